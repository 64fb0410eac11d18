// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/engine_events.h"
#include "core/audit/verdict.h"
#include "core/base/error.h"
#include "core/store/audit_store.h"

namespace assay::audit {

/// What decides whether an interrupted audit may be continued, besides submission root, order and kernel.
struct ReplayOptions {
    Scope scope = Scope::all;
    std::vector<StepRange> ranges; ///< for range and sample
    std::string nonce;             ///< hex; samples
    bool logIgnored = false;
    std::string secondKernel;
    /// Canonical text, equal exactly if the options are equal.
    [[nodiscard]] std::string toString() const;
};
[[nodiscard]] store::WorkKey workKey(std::string_view rootHex, std::string_view orderDigestHex, std::string_view kernel,
                                     const ReplayOptions& options);

/// Stores one running audit from the events of its engine. The store must outlive the recorder. Not thread-safe.
/// Every step is one transaction; a kill at any moment loses at most the step in flight.
class AuditRecorder {
public:
    /// A new audit.
    [[nodiscard]] static base::Result<AuditRecorder> begin(store::AuditStore& store, const store::NewAudit& audit);
    /// The newest interrupted audit of exactly this work; none = begin anew.
    [[nodiscard]] static base::Result<std::optional<store::ResumableAudit>>
    findResumable(const store::AuditStore& store, const store::WorkKey& work);
    /// Continues it: verified steps stay, mismatched ones and findings are forgotten and replayed anew. `usage` if its
    /// owner lives.
    [[nodiscard]] static base::Result<AuditRecorder> resume(store::AuditStore& store, store::AuditId id);

    AuditRecorder(AuditRecorder&&) noexcept = default;
    AuditRecorder& operator=(AuditRecorder&&) noexcept = default;

    /// Parses and stores one output line of the engine. `malformed` if it is not an event (the caller decides whether
    /// to go on).
    [[nodiscard]] base::Result<EngineEvent> acceptLine(std::string_view line);
    [[nodiscard]] base::Result<void> accept(const EngineEvent& event);

    /// The engine has ended. With a verdict event seen, the audit is finished. Otherwise it is left interrupted with
    /// `why` (cancelled, killed by signal 9, error text) and can be resumed.
    [[nodiscard]] base::Result<void> end(std::string_view why);
    [[nodiscard]] base::Result<void> setPaused(bool paused);

    [[nodiscard]] store::AuditId id() const { return m_id; }
    [[nodiscard]] const std::optional<VerifyReport>& report() const {
        return m_report;
    }                                                                                 ///< once the verdict event came
    [[nodiscard]] const std::optional<base::Error>& error() const { return m_error; } ///< last error event

private:
    AuditRecorder(store::AuditStore& store, store::AuditId id) : m_store(&store), m_id(id) {}
    [[nodiscard]] base::Result<void> checkPending() const;

    store::AuditStore* m_store;
    store::AuditId m_id;
    std::map<std::uint64_t, store::StepWrite> m_pending; ///< what came for a step before its step event
    std::optional<VerifyReport> m_report;
    std::optional<base::Error> m_error;
};

[[nodiscard]] store::FindingRow toRow(const Finding& finding);
[[nodiscard]] Finding
fromRow(const store::FindingRow& row); ///< unknown names become empty fields, an unknown severity `info`
[[nodiscard]] store::CheckRow toRow(const CheckResult& check);

} // namespace assay::audit
