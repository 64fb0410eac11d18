// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/store/audit_store.h"

namespace assay::test {

/// Fails the test with the error's text; use as ASSERT_TRUE(ok(result)).
template <typename T>
testing::AssertionResult ok(const base::Result<T>& result) {
    return result ? testing::AssertionSuccess() : testing::AssertionFailure() << result.error().toString();
}

class StoreTest : public testing::Test {
protected:
    void SetUp() override {
        auto folder = base::TemporaryFolder::create("assay-store");
        ASSERT_TRUE(ok(folder));
        m_folder.emplace(std::move(*folder));
    }
    [[nodiscard]] base::fs::path path() const { return m_folder->path() / "audits.sqlite"; }
    [[nodiscard]] base::fs::path folder() const { return m_folder->path(); }
    store::AuditStore open(store::AuditStore::Mode mode = store::AuditStore::Mode::readWrite) const {
        auto store = store::AuditStore::open(path(), mode);
        if (!store) {
            throw std::runtime_error(store.error().toString());
        }
        return std::move(*store);
    }

    static store::NewAudit newAudit(const std::string& kernel = "haswell") {
        store::NewAudit audit;
        audit.submission = "/data/run.assay";
        audit.title = "tiny";
        audit.work = {std::string(64, 'a'), std::string(64, 'b'), kernel, "scope=all"};
        audit.command = "assay verify run.assay";
        audit.stepsTotal = 10;
        return audit;
    }
    static store::StepWrite stepWrite(std::uint64_t step, const std::string& status = "matched") {
        store::StepWrite write;
        write.step.step = step;
        write.step.status = status;
        write.step.lossBits = 0x3f800000U + static_cast<std::uint32_t>(step);
        write.step.lossClaimedBits = 0xffc00000U; // a NaN with the sign bit, so all 32 bits count
        write.step.entries = 100 + step;
        write.step.corrections = step;
        write.step.logBytes = 1000;
        write.step.freedom = 7;
        write.step.seconds = 0.25;
        write.step.checkpoint = step % 2 == 0;
        write.step.digest = std::string(64, 'c');
        write.sites = {{0, step, 0, 0}, {3, 1, 1, 0}};
        write.corrections = {{{step, 0}, 3, "blocks.0 / dW", 17, 1, 0xffffffffU}};
        return write;
    }

private:
    std::optional<base::TemporaryFolder> m_folder;
};

} // namespace assay::test
