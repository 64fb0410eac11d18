// SPDX-License-Identifier: Apache-2.0
#include "core/format/submission.h"

#include <chrono>
#include <csignal>
#include <map>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/crypto/dsse.h"
#include "core/crypto/ed25519.h"
#include "core/merkle/checkpoint_note.h"
#include "core/merkle/tree.h"
#include "tests/support/format_fixtures.h"

namespace assay::format {
namespace {

namespace fs = base::fs;

std::string testKeyPem() {
    base::ByteVector seed(32, 42);
    return *crypto::PrivateKey::fromSeed(seed)->toPem();
}

std::map<std::string, base::ByteVector> contentsOf(const fs::path& folder) {
    std::map<std::string, base::ByteVector> contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) {
            contents[fs::relative(entry.path(), folder).string()] = *base::readFile(entry.path(), 1 << 30);
        }
    }
    return contents;
}

std::string namesOf(const std::map<std::string, base::ByteVector>& contents) {
    std::string names;
    for (const auto& [name, bytes] : contents) {
        names += name + " ";
    }
    return names;
}

class SubmissionTest : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(m_folder); }
    [[nodiscard]] fs::path at(std::string_view name) const { return m_folder->path() / name; }
    /// Replaces a file's bytes by `change` of them.
    template <typename Change>
    void edit(const fs::path& path, Change change) {
        auto bytes = *base::readFile(path, 1 << 30);
        change(bytes);
        ASSERT_TRUE(base::writeFileAtomic(path, bytes));
    }
    void copyTo(std::string_view from, std::string_view to) {
        fs::remove_all(at(to));
        fs::copy(at(from), at(to), fs::copy_options::recursive);
    }
    void expectOpenError(std::string_view name, base::ErrorCode code, std::string_view words) {
        const auto opened = Submission::open(at(name));
        ASSERT_FALSE(opened) << words;
        EXPECT_EQ(opened.error().code, code) << opened.error().toString();
        EXPECT_NE(opened.error().toString().find(words), std::string::npos)
            << words << " -> " << opened.error().toString();
    }

private:
    base::Result<base::TemporaryFolder> m_folder = base::TemporaryFolder::create();
};

TEST_F(SubmissionTest, WriteAndRead) {
    const auto order = test::tinyOrder();
    const auto written = test::tinySubmission(at("s"), order, testKeyPem());
    ASSERT_TRUE(written) << written.error().toString();
    EXPECT_EQ(namesOf(contentsOf(at("s"))), "attestation.dsse.json checkpoints/000002.safetensors "
                                            "checkpoints/000004.safetensors commitment.json init.safetensors "
                                            "leaves.bin logs/000001.rlog logs/000002.rlog logs/000003.rlog "
                                            "logs/000004.rlog manifest.json order.json program.json "
                                            "steps.bin steps.idx ");
    const auto submission = Submission::open(at("s"));
    ASSERT_TRUE(submission) << submission.error().toString();
    EXPECT_EQ(submission->order(), order);
    EXPECT_EQ(submission->orderDigest(), orderDigest(order));
    EXPECT_EQ(submission->program(), test::tinyProgram());
    EXPECT_EQ(submission->programDigest(), order.program);
    EXPECT_EQ(submission->leaves(), 5U);
    EXPECT_EQ(submission->steps(), 4U);
    EXPECT_EQ(submission->checkpoints(), (std::vector<std::uint64_t>{2, 4}));
    EXPECT_EQ(submission->logBytes(),
              test::tinyLog(1).size() + test::tinyLog(2).size() + test::tinyLog(3).size() + test::tinyLog(4).size());

    merkle::Tree tree;
    base::Digest previous;
    for (std::uint64_t step = 0; step <= 4; ++step) {
        const auto state = commitState(test::TinyState(step).all());
        const auto record = submission->step(step);
        ASSERT_TRUE(record) << record.error().toString();
        EXPECT_EQ(record->leaf, test::tinyLeaf(order, step, previous, state));
        EXPECT_EQ(record->tensorRoots, state.tensorRoots);
        previous = leafHash(record->leaf);
        EXPECT_EQ(submission->leafHash(step), previous);
        EXPECT_EQ(leafHash(*submission->leafBytes(step)), previous);
        tree.append(previous);
        if (step > 0) {
            EXPECT_EQ(*submission->log(step), test::tinyLog(step));
        }
    }
    EXPECT_FALSE(submission->step(5));
    EXPECT_FALSE(submission->log(0));
    EXPECT_FALSE(submission->log(5));
    EXPECT_FALSE(submission->checkpoint(1));
    EXPECT_EQ(floatsOf(*submission->checkpoint(4)->find("head.weight")).value_or(std::vector<float>{}),
              test::TinyState(4).weight);
    EXPECT_EQ(submission->checkpoint(0)->tensors().size(), 2U);

    EXPECT_EQ(submission->commitment().root, tree.root());
    EXPECT_EQ(submission->commitment().leaves, 5U);
    EXPECT_FALSE(submission->commitment().diverged);
    const auto& attestation = submission->attestation();
    EXPECT_EQ(submission->attestationProblem(), "");
    EXPECT_EQ(attestation.root, tree.root());
    EXPECT_EQ(attestation.manifest, submission->manifestDigest());
    EXPECT_EQ(attestation.order, orderDigest(order));
    EXPECT_EQ(attestation.finalCheckpointName, "checkpoints/000004.safetensors");
    EXPECT_EQ(attestation.finalCheckpoint, submission->manifest().find("checkpoints/000004.safetensors")->sha256);
    EXPECT_EQ(attestation.profiles, (std::vector<ProfileRange>{{1, 4, "haswell"}}));
    EXPECT_EQ(attestation.engineVersion, "0.1.0");
    const auto key = *crypto::PrivateKey::fromPem(testKeyPem())->publicKey();
    EXPECT_EQ(crypto::verifyEnvelope(*crypto::parseEnvelope(submission->envelopeText()), key),
              crypto::SignatureCheck::valid);
    const auto note = merkle::parseCheckpoint(submission->commitment().checkpointNote);
    ASSERT_TRUE(note) << note.error().toString();
    EXPECT_EQ(note->checkpoint.root, tree.root());
    EXPECT_EQ(note->checkpoint.origin, "assay/training/" + orderDigest(order).toHex());
    EXPECT_EQ(merkle::verifyCheckpoint(*note, note->checkpoint.origin, key), crypto::SignatureCheck::valid);
    const auto findings = submission->verifyFiles();
    ASSERT_TRUE(findings);
    EXPECT_TRUE(findings->empty());
}

TEST_F(SubmissionTest, UnsignedHasNoSignature) {
    ASSERT_TRUE(test::tinySubmission(at("s")));
    const auto submission = Submission::open(at("s"));
    ASSERT_TRUE(submission) << submission.error().toString();
    EXPECT_TRUE(crypto::parseEnvelope(submission->envelopeText())->signatures.empty());
    EXPECT_EQ(submission->attestation().profiles.size(), 1U);
    EXPECT_TRUE(merkle::parseCheckpoint(submission->commitment().checkpointNote)->signatures.empty());
}

TEST_F(SubmissionTest, SameTrainingSameBytes) {
    ASSERT_TRUE(test::tinySubmission(at("a"), test::tinyOrder(), testKeyPem()));
    ASSERT_TRUE(test::tinySubmission(at("b"), test::tinyOrder(), testKeyPem()));
    EXPECT_EQ(contentsOf(at("a")), contentsOf(at("b")));
    fs::rename(at("a"), at("moved"));
    EXPECT_TRUE(Submission::open(at("moved")));
}

TEST_F(SubmissionTest, CreateRefusesWhatDoesNotFit) {
    ASSERT_TRUE(base::makeFolders(at("taken")));
    ASSERT_TRUE(base::writeFileAtomic(at("taken") / "x", "x"));
    const auto taken = test::tinyWriter(at("taken"), test::tinyOrder());
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, base::ErrorCode::usage);
    auto order = test::tinyOrder();
    order.program.bytes[0] ^= 1;
    const auto program = test::tinyWriter(at("p"), order);
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().code, base::ErrorCode::malformed);
    EXPECT_EQ(program.error().file, "program.json");
    order = test::tinyOrder();
    order.initialState.bytes[0] ^= 1;
    const auto init = test::tinyWriter(at("i"), order);
    ASSERT_FALSE(init);
    EXPECT_NE(init.error().toString().find("tiny-init.safetensors"), std::string::npos);
    EXPECT_FALSE(fs::exists(at("p")));
    EXPECT_FALSE(fs::exists(at("i")));
    ASSERT_TRUE(base::makeFolders(at("empty")));
    EXPECT_TRUE(test::tinyWriter(at("empty"), test::tinyOrder())) << "an empty folder is welcome";
    EXPECT_TRUE(test::tinyWriter(at("slash/"), test::tinyOrder())) << "so is a path with a slash at the end";
}

TEST_F(SubmissionTest, LeftoversOfAnInterruptedCreationDoNotHinder) {
    ASSERT_TRUE(base::makeFolders(at(".s.partial")));
    ASSERT_TRUE(base::writeFileAtomic(at(".s.partial") / "steps.bin", "half"));
    ASSERT_TRUE(test::tinySubmission(at("s")));
    EXPECT_TRUE(Submission::open(at("s")));
    EXPECT_FALSE(fs::exists(at(".s.partial")));
}

TEST_F(SubmissionTest, OneWriterAtATime) {
    auto writer = test::tinyWriter(at("s"), test::tinyOrder());
    ASSERT_TRUE(writer);
    const auto second = SubmissionWriter::resume(at("s"), "haswell");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, base::ErrorCode::environment);
    { const auto gone = std::move(*writer); }
    EXPECT_TRUE(SubmissionWriter::resume(at("s"), "haswell"));
}

TEST_F(SubmissionTest, UnfinishedSaysHowToGoOn) {
    {
        auto writer = test::tinyWriter(at("s"), test::tinyOrder());
        ASSERT_TRUE(writer);
        ASSERT_TRUE(test::tinyStep(*writer));
        ASSERT_TRUE(test::tinyStep(*writer));
    }
    expectOpenError("s", base::ErrorCode::usage, "training not finished");
    expectOpenError("s", base::ErrorCode::usage, "--resume");
    expectOpenError("nowhere", base::ErrorCode::unreadable, "no such");
    ASSERT_TRUE(base::makeFolders(at("empty")));
    expectOpenError("empty", base::ErrorCode::unreadable, "not a submission");
    EXPECT_EQ(SubmissionWriter::resume(at("empty"), "haswell").error().code, base::ErrorCode::usage);
    ASSERT_TRUE(test::tinySubmission(at("done")));
    const auto finished = SubmissionWriter::resume(at("done"), "haswell");
    ASSERT_FALSE(finished);
    EXPECT_NE(finished.error().message.find("finished"), std::string::npos);
}

TEST_F(SubmissionTest, ResumedUnderTheSameProfileIsIdentical) {
    ASSERT_TRUE(test::tinySubmission(at("whole"), test::tinyOrder(), testKeyPem()));
    const auto expected = contentsOf(at("whole"));
    for (std::uint64_t stop = 0; stop <= 5; ++stop) {
        fs::remove_all(at("s"));
        {
            auto writer = test::tinyWriter(at("s"), test::tinyOrder());
            ASSERT_TRUE(writer);
            while (writer->leaves() < stop) {
                ASSERT_TRUE(test::tinyStep(*writer));
            }
        }
        auto writer = SubmissionWriter::resume(at("s"), "haswell");
        ASSERT_TRUE(writer) << writer.error().toString();
        EXPECT_EQ(writer->leaves(), stop);
        EXPECT_EQ(writer->lastCheckpoint(), stop >= 5   ? std::optional<std::uint64_t>(4)
                                            : stop >= 3 ? std::optional<std::uint64_t>(2)
                                                        : std::nullopt);
        if (stop > 1) {
            EXPECT_EQ(*writer->log(stop - 1), test::tinyLog(stop - 1));
            EXPECT_EQ(writer->step(stop - 1)->leaf.step, stop - 1);
            EXPECT_EQ(writer->lastLeafHash(), leafHash(writer->step(stop - 1)->leaf));
        }
        EXPECT_FALSE(writer->step(stop));
        ASSERT_TRUE(test::finishTiny(*writer, testKeyPem()));
        EXPECT_EQ(contentsOf(at("s")), expected) << stop;
    }
}

TEST_F(SubmissionTest, ProfilesPerRange) {
    const auto profilesAfter = [&](const std::vector<std::pair<std::uint64_t, std::string>>& changes) {
        fs::remove_all(at("s"));
        {
            auto writer = test::tinyWriter(at("s"), test::tinyOrder(), "a");
            EXPECT_TRUE(writer);
        }
        for (const auto& [leaves, profile] : changes) {
            auto writer = SubmissionWriter::resume(at("s"), profile);
            EXPECT_TRUE(writer);
            while (writer->leaves() < leaves) {
                EXPECT_TRUE(test::tinyStep(*writer));
            }
        }
        auto writer = SubmissionWriter::resume(at("s"), changes.back().second);
        EXPECT_TRUE(test::finishTiny(*writer));
        return Submission::open(at("s"))->attestation().profiles;
    };
    using Ranges = std::vector<ProfileRange>;
    EXPECT_EQ(profilesAfter({{3, "a"}, {4, "b"}}), (Ranges{{1, 2, "a"}, {3, 4, "b"}}));
    EXPECT_EQ(profilesAfter({{2, "b"}, {4, "b"}}), (Ranges{{1, 4, "b"}}));
    EXPECT_EQ(profilesAfter({{3, "a"}, {3, "b"}, {4, "a"}}), (Ranges{{1, 4, "a"}})) << "no step was made under b";
    EXPECT_EQ(profilesAfter({{2, "a"}, {3, "b"}, {4, "c, threads=2"}}),
              (Ranges{{1, 1, "a"}, {2, 2, "b"}, {3, 4, "c, threads=2"}}));
    EXPECT_EQ(profilesAfter({{5, "a"}, {5, "b"}}), (Ranges{{1, 4, "a"}}));
}

/// Cuts each append file at every length: resume must find the last whole leaf, and never fail.
TEST_F(SubmissionTest, TornTailsAreCut) {
    {
        auto writer = test::tinyWriter(at("torn"), test::tinyOrder(4, 0));
        ASSERT_TRUE(writer);
        for (int i = 0; i < 4; ++i) {
            ASSERT_TRUE(test::tinyStep(*writer));
        }
    }
    copyTo("torn", "copy");
    const auto index = *base::readFile(at("torn") / "steps.idx", 1000);
    const auto recordsIn = [&](std::uint64_t bytes) {
        std::uint64_t count = 0;
        while (count < 4 && base::loadLe<std::uint64_t>(index.data() + count * 8) <= bytes) {
            ++count;
        }
        return count;
    };
    for (const std::string name : {"leaves.bin", "steps.idx", "steps.bin"}) {
        const auto size = fs::file_size(at("copy") / name);
        for (std::uint64_t keep = 0; keep <= size; keep += name == "steps.bin" ? 13 : 1) {
            fs::copy_file(at("torn") / name, at("copy") / name, fs::copy_options::overwrite_existing);
            fs::resize_file(at("copy") / name, keep);
            const auto expected = name == "leaves.bin" ? keep / 32 : name == "steps.idx" ? keep / 8 : recordsIn(keep);
            auto writer = SubmissionWriter::resume(at("copy"), "haswell");
            ASSERT_TRUE(writer) << name << " " << keep << ": " << writer.error().toString();
            EXPECT_EQ(writer->leaves(), expected) << name << " " << keep;
            EXPECT_EQ(fs::file_size(at("copy") / "leaves.bin"), expected * 32);
            EXPECT_EQ(fs::exists(at("copy") / logName(expected)), false) << "a log that no leaf commits to";
            // Put back what resume removed, for the next length.
            { const auto gone = std::move(*writer); }
            copyTo("torn", "copy");
        }
    }
}

/// After a power cut a file may hold zeros, or a log may be short, although its leaf is there.
TEST_F(SubmissionTest, DamagedTailIsCutToo) {
    {
        auto writer = test::tinyWriter(at("s"), test::tinyOrder(4, 0));
        ASSERT_TRUE(writer);
        for (int i = 0; i < 4; ++i) {
            ASSERT_TRUE(test::tinyStep(*writer));
        }
    }
    const auto leavesAfter = [&](const std::string& name, auto change) {
        copyTo("s", "copy");
        edit(at("copy") / name, change);
        auto writer = SubmissionWriter::resume(at("copy"), "haswell");
        EXPECT_TRUE(writer) << name;
        return writer ? writer->leaves() : 99;
    };
    EXPECT_EQ(leavesAfter("logs/000002.rlog", [](base::ByteVector& b) { b.pop_back(); }), 2U);
    EXPECT_EQ(leavesAfter("logs/000003.rlog", [](base::ByteVector& b) { b[0] ^= 1; }), 3U);
    EXPECT_EQ(leavesAfter("leaves.bin", [](base::ByteVector& b) { std::fill(b.end() - 32, b.end(), std::uint8_t{0}); }),
              3U);
    EXPECT_EQ(leavesAfter("steps.idx", [](base::ByteVector& b) { std::fill(b.end() - 8, b.end(), std::uint8_t{0}); }),
              3U);
    EXPECT_EQ(leavesAfter("steps.bin", [](base::ByteVector& b) { std::fill(b.end() - 300, b.end(), std::uint8_t{0}); }),
              3U);
    EXPECT_EQ(leavesAfter("steps.bin", [](base::ByteVector& b) { b.insert(b.end(), 100, std::uint8_t{7}); }), 4U);
    EXPECT_EQ(leavesAfter("training.journal", [](base::ByteVector& b) { b.push_back('p'); }), 4U);
    copyTo("s", "copy");
    ASSERT_TRUE(base::writeFileAtomic(at("copy") / "training.journal", "something else\n"));
    EXPECT_EQ(SubmissionWriter::resume(at("copy"), "haswell").error().code, base::ErrorCode::malformed);
}

/// kill -9 at random moments, several times in one training: the end is byte for byte that of an undisturbed run.
TEST_F(SubmissionTest, KilledAnywhereEndsIdentical) {
    const auto order = test::tinyOrder(60, 20);
    ASSERT_TRUE(test::tinySubmission(at("whole"), order, testKeyPem()));
    const auto expected = contentsOf(at("whole"));
    std::uint64_t random = 12345;
    int kills = 0;
    for (int round = 0; round < 3; ++round) {
        const auto name = "killed" + std::to_string(round);
        for (int attempt = 0;; ++attempt) {
            ASSERT_LT(attempt, 1000) << "no progress";
            const pid_t child = fork();
            ASSERT_GE(child, 0);
            if (child == 0) {
                auto writer = fs::exists(at(name) / "training.journal") ? SubmissionWriter::resume(at(name), "haswell")
                                                                        : test::tinyWriter(at(name), order);
                _exit(writer && test::finishTiny(*writer, testKeyPem()) ? 0 : 1);
            }
            random = random * 6364136223846793005ULL + 1442695040888963407ULL;
            usleep(
                static_cast<useconds_t>(300 + (random >> 40) % 3'000 * (static_cast<std::uint64_t>(attempt) + 1) / 2));
            kill(child, SIGKILL);
            int status = 0;
            ASSERT_EQ(waitpid(child, &status, 0), child);
            if (WIFEXITED(status)) {
                if (WEXITSTATUS(status) == 0) {
                    break;
                }
                // Killed between the journal's end and the child's: the training had finished.
                ASSERT_TRUE(Submission::open(at(name))) << "the child failed";
                break;
            }
            ++kills;
        }
        EXPECT_EQ(contentsOf(at(name)), expected);
    }
    std::printf("[          ] %d kills\n", kills);
    EXPECT_GT(kills, 0);
}

TEST_F(SubmissionTest, Diverged) {
    auto writer = test::tinyWriter(at("s"), test::tinyOrder());
    ASSERT_TRUE(writer);
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(test::tinyStep(*writer));
    }
    LeafData leaf;
    leaf.order = writer->orderDigest();
    leaf.step = 3;
    leaf.previous = writer->lastLeafHash();
    leaf.diverged = true;
    leaf.divergedSite = "head / y";
    ASSERT_TRUE(writer->append(leaf, {}, {}));
    { const auto gone = std::move(*writer); }
    auto again = SubmissionWriter::resume(at("s"), "haswell");
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->diverged());
    ASSERT_TRUE(again->finish({}, "0.1.0"));
    const auto submission = Submission::open(at("s"));
    ASSERT_TRUE(submission) << submission.error().toString();
    EXPECT_TRUE(submission->commitment().diverged);
    EXPECT_EQ(submission->step(3)->leaf, leaf);
    EXPECT_EQ(submission->checkpoints(), (std::vector<std::uint64_t>{2}));
    EXPECT_EQ(submission->attestation().finalCheckpointName, "checkpoints/000002.safetensors");
}

TEST_F(SubmissionTest, ManifestMismatchesAreFindings) {
    ASSERT_TRUE(test::tinySubmission(at("s"), test::tinyOrder(), testKeyPem()));
    for (const std::string name :
         {"logs/000003.rlog", "checkpoints/000004.safetensors", "leaves.bin", "init.safetensors"}) {
        copyTo("s", "c");
        edit(at("c") / name, [](base::ByteVector& bytes) { bytes.back() ^= 1; });
        const auto submission = Submission::open(at("c"));
        ASSERT_TRUE(submission) << name << submission.error().toString();
        const auto findings = submission->verifyFiles();
        ASSERT_TRUE(findings);
        ASSERT_EQ(findings->size(), 1U) << name;
        EXPECT_EQ((*findings)[0].name, name);
        EXPECT_NE((*findings)[0].text.find("SHA-256"), std::string::npos);
    }
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(Submission::open(at("s"))->verifyFiles({}, stop.get_token()).error().code, base::ErrorCode::cancelled);
}

TEST_F(SubmissionTest, StructuralDamageIsMalformed) {
    ASSERT_TRUE(test::tinySubmission(at("s"), test::tinyOrder(), testKeyPem()));
    const auto original = contentsOf(at("s"));
    // One byte less or more in any file.
    for (const auto& [name, bytes] : original) {
        for (const bool longer : {false, true}) {
            copyTo("s", "c");
            edit(at("c") / name, [&](base::ByteVector& b) { longer ? b.push_back('\n') : b.pop_back(); });
            if (name == "attestation.dsse.json") {
                // It is outside the manifest; whoever checks the signature reports it.
                const auto submission = Submission::open(at("c"));
                ASSERT_TRUE(submission);
                continue;
            }
            expectOpenError("c", base::ErrorCode::malformed, name);
        }
        copyTo("s", "c");
        fs::remove(at("c") / name);
        expectOpenError("c",
                        name == "manifest.json" || name == "attestation.dsse.json" ? base::ErrorCode::unreadable
                                                                                   : base::ErrorCode::malformed,
                        name);
    }
    const auto planted = [&](std::string_view words, auto plant) {
        copyTo("s", "c");
        plant(at("c"));
        expectOpenError("c", base::ErrorCode::malformed, words);
    };
    planted("does not list", [](const fs::path& c) { (void)base::writeFileAtomic(c / "extra.txt", "x"); });
    planted("does not list", [](const fs::path& c) { (void)base::writeFileAtomic(c / "logs" / "000009.rlog", "x"); });
    planted("neither a regular file", [](const fs::path& c) { fs::create_symlink("/etc/passwd", c / "link"); });
    planted("neither a regular file", [](const fs::path& c) {
        fs::remove(c / "order.json");
        fs::create_symlink("../s/order.json", c / "order.json");
    });
    planted("does not belong", [](const fs::path& c) { fs::create_directory(c / "secret"); });
    planted("does not belong", [](const fs::path& c) { fs::create_directory(c / "logs" / "deep"); });
}

/// Consistent liars: the manifest is made anew, so that only the structure can be wrong.
TEST_F(SubmissionTest, SealedNonsenseIsMalformed) {
    ASSERT_TRUE(test::tinySubmission(at("s")));
    const auto sealed = [&](std::string_view words, auto plant) {
        copyTo("s", "c");
        plant(at("c"));
        const auto seal = sealSubmission(at("c"), {}, "0.1.0", {{1, 4, "haswell"}});
        if (!seal) {
            EXPECT_NE(seal.error().toString().find(words), std::string::npos) << seal.error().toString();
            return;
        }
        expectOpenError("c", base::ErrorCode::malformed, words);
    };
    const auto resize = [&](const fs::path& path, auto change) { edit(path, change); };
    sealed("not a whole number",
           [&](const fs::path& c) { resize(c / "leaves.bin", [](base::ByteVector& b) { b.pop_back(); }); });
    sealed("leaves.bin", [&](const fs::path& c) { resize(c / "leaves.bin", [](base::ByteVector& b) { b.clear(); }); });
    sealed("expected 8 for each of 6 leaves",
           [&](const fs::path& c) { resize(c / "leaves.bin", [](base::ByteVector& b) { b.resize(192); }); });
    sealed("steps.idx", [&](const fs::path& c) {
        resize(c / "steps.idx", [](base::ByteVector& b) {
            b[0] = 255;
            b[5] = 1;
        });
    });
    sealed("steps.idx", [&](const fs::path& c) {
        resize(c / "steps.idx", [](base::ByteVector& b) { std::fill(b.begin(), b.begin() + 8, std::uint8_t{0}); });
    });
    sealed("the last record ends at",
           [&](const fs::path& c) { resize(c / "steps.bin", [](base::ByteVector& b) { b.push_back(0); }); });
    sealed("the log of this step is missing", [&](const fs::path& c) { fs::remove(c / "logs" / "000002.rlog"); });
    sealed("belongs to no leaf",
           [&](const fs::path& c) { (void)base::writeFileAtomic(c / "logs" / "000005.rlog", "x"); });
    sealed("belongs to no leaf",
           [&](const fs::path& c) { (void)base::writeFileAtomic(c / "checkpoints" / "000005.safetensors", "x"); });
    sealed("does not belong", [&](const fs::path& c) { (void)base::writeFileAtomic(c / "logs" / "1.rlog", "x"); });
    sealed("order.json", [&](const fs::path& c) { resize(c / "order.json", [](base::ByteVector& b) { b[0] = '['; }); });
    sealed("program.json",
           [&](const fs::path& c) { resize(c / "program.json", [](base::ByteVector& b) { b.push_back('\n'); }); });
    sealed("init.safetensors", [&](const fs::path& c) { fs::remove(c / "init.safetensors"); });
    // A record that cannot be read is found when it is asked for.
    copyTo("s", "c");
    resize(at("c") / "steps.bin", [](base::ByteVector& b) { b[4] ^= 1; });
    ASSERT_TRUE(sealSubmission(at("c"), {}, "0.1.0", {}));
    const auto submission = Submission::open(at("c"));
    ASSERT_TRUE(submission) << submission.error().toString();
    const auto record = submission->step(0);
    ASSERT_FALSE(record);
    EXPECT_NE(record.error().toString().find("steps.bin"), std::string::npos) << record.error().toString();
    EXPECT_TRUE(submission->step(1));
}

TEST_F(SubmissionTest, ForeignAttestationIsAProblemNotACrash) {
    ASSERT_TRUE(test::tinySubmission(at("s")));
    const auto problemWith = [&](std::string_view text) {
        copyTo("s", "c");
        EXPECT_TRUE(base::writeFileAtomic(at("c") / "attestation.dsse.json", text));
        const auto submission = Submission::open(at("c"));
        EXPECT_TRUE(submission);
        return submission ? submission->attestationProblem() : std::string();
    };
    EXPECT_NE(problemWith(""), "");
    EXPECT_NE(problemWith("{}"), "");
    EXPECT_NE(problemWith("{\"payload\":\"e30=\",\"payloadType\":\"text/plain\",\"signatures\":[]}").find("text/plain"),
              std::string::npos);
    EXPECT_NE(problemWith("{\"payload\":\"e30=\",\"payloadType\":\"application/vnd.in-toto+json\",\"signatures\":[]}"),
              "");
}

TEST(Manifest, RoundTripAndRefusals) {
    Manifest manifest;
    manifest.files = {{"a", 1, {}}, {"b/c", 2, crypto::sha256({})}};
    const auto text = serialiseManifest(manifest);
    const auto back = parseManifest(base::asBytes(text));
    ASSERT_TRUE(back) << back.error().toString();
    EXPECT_EQ(back->files, manifest.files);
    EXPECT_EQ(back->find("b/c")->size, 2U);
    EXPECT_EQ(back->find("b"), nullptr);
    EXPECT_TRUE(parseManifest(base::asBytes(serialiseManifest({}))));
    const auto refused = [](std::vector<ManifestEntry> files) {
        return !parseManifest(base::asBytes(serialiseManifest({std::move(files)})));
    };
    EXPECT_TRUE(refused({{"a", 1, {}}, {"a", 1, {}}}));
    EXPECT_TRUE(refused({{"b", 1, {}}, {"a", 1, {}}}));
    EXPECT_TRUE(refused({{"A", 1, {}}, {"a", 1, {}}}));
    for (const std::string name : {"", "/a", "a/", "a//b", "..", "a/../b", "./a", "a/.", "a\\b", "a\nb"}) {
        EXPECT_TRUE(refused({{name, 1, {}}})) << name;
    }
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_FALSE(parseManifest(base::asBytes(text.substr(0, size)))) << size;
    }
    EXPECT_FALSE(parseManifest(base::asBytes(text + "\n")));
    EXPECT_FALSE(parseManifest(base::asBytes(" " + text)));
}

TEST(Commitment, RoundTrip) {
    Commitment commitment;
    commitment.order = crypto::sha256(base::asBytes("o"));
    commitment.leaves = 17;
    commitment.root = crypto::sha256(base::asBytes("r"));
    commitment.diverged = true;
    commitment.checkpointNote = "origin\n17\nroot\n";
    const auto text = serialiseCommitment(commitment);
    EXPECT_EQ(parseCommitment(base::asBytes(text)).value_or(Commitment{}), commitment);
    EXPECT_FALSE(parseCommitment(base::asBytes(text.substr(1))));
    EXPECT_FALSE(parseCommitment(base::asBytes("{}\n")));
}

TEST(Statement, RoundTripAndRefusals) {
    Attestation attestation;
    attestation.root = crypto::sha256(base::asBytes("root"));
    attestation.manifest = crypto::sha256(base::asBytes("manifest"));
    attestation.order = crypto::sha256(base::asBytes("order"));
    attestation.finalCheckpoint = crypto::sha256(base::asBytes("final"));
    attestation.finalCheckpointName = checkpointName(100);
    attestation.leaves = 101;
    attestation.profiles = {{1, 60, "haswell"}, {61, 100, "skylakex,threads=2"}};
    attestation.engineVersion = "0.1.0";
    const auto text = *statementText(attestation);
    const auto back = parseStatement(base::asBytes(text));
    ASSERT_TRUE(back) << back.error().toString();
    EXPECT_EQ(*back, attestation);
    const auto refuse = [&](std::string from, std::string to) {
        auto changed = text;
        const auto at = changed.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        changed.replace(at, from.size(), to);
        EXPECT_FALSE(parseStatement(base::asBytes(changed))) << to;
    };
    refuse("assayRfc9162Sha256V1", "sha256");
    refuse("urn:assay:training:v1", "urn:assay:training:v2");
    refuse("\"first_step\":61", "\"first_step\":62");
    refuse("\"last_step\":60", "\"last_step\":0");
    refuse("manifest.json", "manifest.jsom");
    refuse("checkpoints/000100.safetensors", "../000100.safetensors");
    refuse("https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0");
}

/// Opening must not depend on hashing: 10,000 steps in well under a second (printed, not asserted: machines differ).
TEST_F(SubmissionTest, OpensTenThousandSteps) {
    auto writer = test::tinyWriter(at("s"), test::tinyOrder(10'000, 0));
    ASSERT_TRUE(writer);
    const auto start = std::chrono::steady_clock::now();
    while (writer->leaves() <= 10'000) {
        ASSERT_TRUE(test::tinyStep(*writer));
    }
    const auto made = std::chrono::steady_clock::now();
    ASSERT_TRUE(writer->finish({}, "0.1.0"));
    const auto finished = std::chrono::steady_clock::now();
    const auto submission = Submission::open(at("s"));
    const auto opened = std::chrono::steady_clock::now();
    ASSERT_TRUE(submission) << submission.error().toString();
    EXPECT_EQ(submission->steps(), 10'000U);
    EXPECT_EQ(submission->step(9'999)->leaf.step, 9'999U);
    const auto ms = [](auto from, auto to) { return std::chrono::duration<double, std::milli>(to - from).count(); };
    std::printf("[          ] 10,000 steps: append %.0f ms, finish %.0f ms, open %.0f ms\n", ms(start, made),
                ms(made, finished), ms(finished, opened));
}

} // namespace
} // namespace assay::format
