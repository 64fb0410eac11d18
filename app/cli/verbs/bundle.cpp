// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <memory>

#include <fmt/format.h>

#include "app/cli/input.h"
#include "app/cli/json_text.h"
#include "app/cli/verbs/verbs.h"
#include "core/format/bundle.h"
#include "core/format/submission.h"

namespace assay::cli {

using base::Error;
using base::ErrorCode;
using base::fail;
using base::Result;
namespace fs = base::fs;

namespace {

struct BundleOptions {
    std::string source;
    std::string out;
};

int done(Session& session, const char* schema, const std::string& out, std::uint64_t bytes) {
    if (session.json) {
        session.console.printLine(JsonObject(schema).add("out", out).add("bytes", bytes).text());
    } else {
        session.console.printLine(fmt::format("{} ({})", out, byteText(bytes)));
    }
    return 0;
}

Result<int> runPack(Session& session, const BundleOptions& options) {
    std::error_code code;
    if (!fs::is_directory(options.source, code)) {
        return fail(Error{ErrorCode::unreadable, "there is no such submission folder", options.source, std::nullopt,
                          "check the path"});
    }
    ASSAY_CHECK(refuseExisting(options.out));
    ASSAY_CHECK(format::packBundle(options.source, options.out));
    ASSAY_TRY(size, base::fileSize(options.out));
    return done(session, "assay.bundle-pack", options.out, size);
}

Result<void> moveFolder(const fs::path& from, const fs::path& to) {
    std::error_code code;
    fs::rename(from, to, code);
    if (!code) {
        return {};
    }
    if (code != std::errc::cross_device_link) {
        return fail(base::systemError(to, "cannot create", code.value()));
    }
    // Another file system: copy beside the target, then rename, so that a half-written folder never has the name.
    const fs::path partial = to.string() + ".partial";
    fs::remove_all(partial, code);
    fs::copy(from, partial, fs::copy_options::recursive, code);
    if (!code) {
        fs::rename(partial, to, code);
    }
    if (code) {
        const auto error = base::systemError(to, "cannot create", code.value());
        fs::remove_all(partial, code);
        return fail(error);
    }
    return {};
}

Result<int> runUnpack(Session& session, const BundleOptions& options) {
    ASSAY_CHECK(refuseExisting(options.out));
    ASSAY_TRY(folder, format::unpackBundle(options.source));
    ASSAY_TRY(submission, format::Submission::open(folder.path())); // only what is a submission may appear
    std::uint64_t bytes = 0;
    for (const auto& file : submission.manifest().files) {
        bytes += file.size;
    }
    ASSAY_CHECK(moveFolder(folder.path(), options.out));
    return done(session, "assay.bundle-unpack", options.out, bytes);
}

} // namespace

void addBundle(VerbSpec& root, Session& session) {
    auto& group = root.verb("bundle", "Submissions as one file");
    {
        auto& verb = group.verb("pack", "Write a submission folder as one .assay file");
        auto o = std::make_shared<BundleOptions>();
        verb.argument("SUBMISSION", "folder", o->source);
        verb.path("--out", "FILE", "the .assay file", o->out).needed();
        addJsonOption(verb, session);
        verb.action([o](Session& s) { return runPack(s, *o); });
    }
    {
        auto& verb = group.verb("unpack", "Turn an .assay file back into a folder");
        auto o = std::make_shared<BundleOptions>();
        verb.argument("FILE", "the .assay file", o->source);
        verb.path("--out", "SUBMISSION", "new folder", o->out).needed();
        addJsonOption(verb, session);
        verb.action([o](Session& s) { return runUnpack(s, *o); });
    }
}

} // namespace assay::cli
