// SPDX-License-Identifier: Apache-2.0
// Static checks against tampered submissions. Plants are sealed and signed with the trainer's own key wherever the
// plant itself is to be found, so that neither signature nor manifest catches it first.
#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <tuple>

#include <gtest/gtest.h>

#include "core/audit/static_checks.h"
#include "core/crypto/dsse.h"
#include "core/crypto/ed25519.h"
#include "core/merkle/checkpoint_note.h"
#include "core/merkle/tree.h"
#include "tests/support/format_fixtures.h"

namespace assay::test {
namespace {

using namespace audit;
namespace fs = base::fs;

crypto::PrivateKey keyFromSeed(std::uint8_t byte) {
    return *crypto::PrivateKey::fromSeed(base::ByteVector(32, byte));
}
std::string pemOf(const crypto::PrivateKey& key) {
    return *key.toPem();
}

class StaticChecksTest : public testing::Test {
protected:
    void SetUp() override {
        m_order.trainerKeys = {m_key.publicKey()->toHex()};
        build(m_order);
    }
    void build(const format::Order& order) {
        fs::remove_all(folder());
        const auto done = tinySubmission(folder(), order, pemOf(m_key));
        ASSERT_TRUE(done.has_value()) << done.error().toString();
    }
    [[nodiscard]] fs::path folder() const { return m_scratch.path() / "run"; }
    [[nodiscard]] format::Submission open() const {
        auto submission = format::Submission::open(folder());
        if (!submission) {
            throw std::runtime_error(submission.error().toString());
        }
        return std::move(*submission);
    }
    [[nodiscard]] AuditorInputs inputs() const { return {m_order, {}}; }
    void seal() { seal(m_key); }
    void seal(const crypto::PrivateKey& key) {
        const auto done = format::sealSubmission(folder(), pemOf(key), "0.1.0", {{1, 4, "haswell"}});
        ASSERT_TRUE(done.has_value()) << done.error().toString();
    }
    void flip(const std::string& name, std::size_t at) {
        auto bytes = *base::readFile(folder() / name, 1 << 20);
        bytes.at(at) ^= 1;
        ASSERT_TRUE(base::writeFileAtomic(folder() / name, base::ByteView(bytes)).has_value());
    }
    /// Rewrites the step records. `recommit`: leaves and chain follow the changed records, as a consistent liar would
    /// do.
    template <typename Change>
    void rewrite(Change change, bool recommit) {
        std::vector<format::StepRecord> records;
        std::vector<base::Digest> hashes;
        {
            const auto submission = open();
            for (std::uint64_t step = 0; step < submission.leaves(); ++step) {
                records.push_back(*submission.step(step));
                hashes.push_back(submission.leafHash(step));
            }
        }
        change(records);
        if (recommit) {
            hashes.clear();
            for (auto& record : records) {
                record.leaf.previous = hashes.empty() ? base::Digest{} : hashes.back();
                hashes.push_back(format::leafHash(record.leaf));
            }
        }
        write(records, hashes);
    }
    void write(const std::vector<format::StepRecord>& records, const std::vector<base::Digest>& hashes) {
        base::ByteWriter steps;
        base::ByteWriter index;
        base::ByteWriter leaves;
        for (const auto& record : records) {
            steps.putBytes(format::serialiseStepRecord(record));
            index.put(static_cast<std::uint64_t>(steps.bytes().size()));
        }
        for (const auto& hash : hashes) {
            leaves.putBytes(hash.view());
        }
        const auto profiles = open().attestation().profiles;
        ASSERT_TRUE(base::writeFileAtomic(folder() / format::kStepsName, base::ByteView(steps.bytes())).has_value());
        ASSERT_TRUE(
            base::writeFileAtomic(folder() / format::kStepsIndexName, base::ByteView(index.bytes())).has_value());
        ASSERT_TRUE(base::writeFileAtomic(folder() / format::kLeavesName, base::ByteView(leaves.bytes())).has_value());
        ASSERT_TRUE(format::sealSubmission(folder(), pemOf(m_key), "0.1.0", profiles).has_value());
    }
    /// The verdict of an audit whose replay, had it been asked, would have agreed.
    [[nodiscard]] VerdictDecision decide() const {
        const auto submission = open();
        VerdictInput input;
        const auto add = [&](const base::Result<CheckOutcome>& outcome) {
            ASSERT_TRUE(outcome.has_value()) << outcome.error().toString();
            input.checks.push_back(outcome->result);
            input.findings.insert(input.findings.end(), outcome->findings.begin(), outcome->findings.end());
        };
        add(checkSignature(submission, inputs()));
        add(checkOrder(submission, inputs()));
        add(checkFiles(submission));
        add(checkMerkle(submission, inputs()));
        add(checkInitialState(submission, inputs()));
        input.checks.push_back({Check::data, CheckState::passed, "", {}, {}});
        add(checkFinalCheckpoint(submission));
        input.replay.state = CheckState::passed;
        input.replay.stepsChecked = input.replay.stepsTotal = submission.steps();
        input.clientOrderGiven = true;
        input.trainerKeyKnown = inputs().trainerKeyKnown();
        return combineVerdict(input);
    }
    void expectRejected(Part part, std::optional<std::uint64_t> step) const {
        const auto decision = decide();
        EXPECT_EQ(decision.verdict, Verdict::rejected) << decision.reason;
        ASSERT_TRUE(decision.firstDivergence.has_value());
        EXPECT_EQ(decision.firstDivergence->part, part) << decision.reason;
        EXPECT_EQ(decision.firstDivergence->step, step) << decision.reason;
    }

    base::TemporaryFolder m_scratch = *base::TemporaryFolder::create("assay-audit");
    crypto::PrivateKey m_key = keyFromSeed(1);
    format::Order m_order = tinyOrder();
};

TEST_F(StaticChecksTest, honestSubmissionPassesEverything) {
    const auto decision = decide();
    EXPECT_EQ(decision.verdict, Verdict::accepted) << decision.reason;
    const auto submission = open();
    for (const auto& outcome : {*checkSignature(submission, inputs()), checkOrder(submission, inputs()),
                                *checkFiles(submission), *checkMerkle(submission, inputs()),
                                *checkInitialState(submission, inputs()), *checkFinalCheckpoint(submission)}) {
        EXPECT_EQ(outcome.result.state, CheckState::passed) << outcome.result.detail;
        EXPECT_TRUE(outcome.findings.empty());
        EXPECT_FALSE(outcome.result.detail.empty());
    }
}

// Signature

TEST_F(StaticChecksTest, unsignedSubmission) {
    const auto profiles = open().attestation().profiles;
    ASSERT_TRUE(format::sealSubmission(folder(), "", "0.1.0", profiles).has_value());
    expectRejected(Part::signature, std::nullopt);
    m_order.trainerKeys.clear();
    build(m_order);
    ASSERT_TRUE(format::sealSubmission(folder(), "", "0.1.0", profiles).has_value());
    const auto outcome = *checkSignature(open(), inputs());
    EXPECT_EQ(outcome.result.state, CheckState::notChecked);
    EXPECT_EQ(outcome.result.detail, "unknown key");
    EXPECT_EQ(decide().verdict, Verdict::accepted);
}

TEST_F(StaticChecksTest, signedBySomebodyElse) {
    seal(keyFromSeed(2));
    expectRejected(Part::signature, std::nullopt);
}

TEST_F(StaticChecksTest, keysInTheSubmissionsOwnOrderProveNothing) {
    AuditorInputs noOrder;
    const auto outcome = *checkSignature(open(), noOrder);
    EXPECT_EQ(outcome.result.state, CheckState::notChecked);
    EXPECT_EQ(outcome.result.detail, "unknown key");
}

TEST_F(StaticChecksTest, keyFromTheCommandLineDecides) {
    AuditorInputs given;
    given.trainerKeyPem = *m_key.publicKey()->toPem();
    EXPECT_EQ(checkSignature(open(), given)->result.state, CheckState::passed);
    given.trainerKeyPem = *keyFromSeed(2).publicKey()->toPem();
    EXPECT_EQ(checkSignature(open(), given)->result.state, CheckState::failed);
    given.clientOrder = m_order; // names the right key, but the command line wins
    EXPECT_EQ(checkSignature(open(), given)->result.state, CheckState::failed);
    given.trainerKeyPem = "no key";
    EXPECT_EQ(checkSignature(open(), given).error().code, base::ErrorCode::malformed);
}

TEST_F(StaticChecksTest, signatureOverSomethingElse) {
    const auto path = folder() / format::kAttestationName;
    const auto good = *crypto::parseEnvelope(*base::readTextFile(path, 1 << 20));
    const auto sign = [&](const std::string& type, const format::Attestation& attestation) {
        crypto::Envelope envelope;
        envelope.payloadType = type;
        const auto text = *format::statementText(attestation);
        envelope.payload.assign(text.begin(), text.end());
        ASSERT_TRUE(crypto::signEnvelope(envelope, m_key).has_value());
        ASSERT_TRUE(base::writeFileAtomic(path, crypto::serialiseEnvelope(envelope)).has_value());
    };
    const auto original = open().attestation();
    sign("application/json", original); // signed well, but as another type
    expectRejected(Part::signature, std::nullopt);
    const auto other = crypto::sha256(base::asBytes("other"));
    const auto changed = [&](auto change) {
        auto attestation = original;
        change(attestation);
        sign(std::string(crypto::kInTotoPayloadType), attestation);
        expectRejected(Part::signature, std::nullopt);
    };
    changed([&](format::Attestation& a) { a.root = other; });
    changed([&](format::Attestation& a) { a.manifest = other; });
    changed([&](format::Attestation& a) { a.order = other; });
    changed([&](format::Attestation& a) { a.finalCheckpoint = other; });
    changed([&](format::Attestation& a) { a.finalCheckpointName = format::checkpointName(2); });
    changed([&](format::Attestation& a) { a.leaves = 4; });
    sign(std::string(crypto::kInTotoPayloadType), original);
    EXPECT_EQ(decide().verdict, Verdict::accepted);
    // Garbage instead of an envelope proves nothing either, with or without a key.
    ASSERT_TRUE(base::writeFileAtomic(path, std::string_view("{}\n")).has_value());
    expectRejected(Part::signature, std::nullopt);
    EXPECT_EQ(checkSignature(open(), {})->result.state, CheckState::failed);
}

TEST_F(StaticChecksTest, everyBitOfTheSignatureCounts) {
    const auto path = folder() / format::kAttestationName;
    auto envelope = *crypto::parseEnvelope(*base::readTextFile(path, 1 << 20));
    for (std::size_t bit = 0; bit < 64 * 8; bit += 5) {
        auto copy = envelope;
        copy.signatures.at(0).signature.at(bit / 8) ^= static_cast<std::uint8_t>(1U << bit % 8);
        ASSERT_TRUE(base::writeFileAtomic(path, crypto::serialiseEnvelope(copy)).has_value());
        ASSERT_EQ(checkSignature(open(), inputs())->result.state, CheckState::failed) << bit;
    }
}

TEST_F(StaticChecksTest, aSignatureMustNotNameAnotherKey) {
    const auto path = folder() / format::kAttestationName;
    const auto envelope = *crypto::parseEnvelope(*base::readTextFile(path, 1 << 20));
    const auto stateWith = [&](const std::string& keyId) {
        auto copy = envelope;
        copy.signatures.at(0).keyId = keyId;
        EXPECT_TRUE(base::writeFileAtomic(path, crypto::serialiseEnvelope(copy)).has_value());
        return checkSignature(open(), inputs())->result.state;
    };
    const auto own = envelope.signatures.at(0).keyId;
    for (std::size_t at = 0; at < own.size(); at += 7) {
        auto other = own;
        other[at] = other[at] == '0' ? '1' : '0';
        EXPECT_EQ(stateWith(other), CheckState::failed) << at;
    }
    EXPECT_EQ(stateWith(keyFromSeed(2).publicKey()->keyId()), CheckState::failed);
    EXPECT_EQ(stateWith(""), CheckState::passed); // as other tools write it
    EXPECT_EQ(stateWith(own), CheckState::passed);
}

// Order

TEST_F(StaticChecksTest, differencesToTheClientsOrderAreListed) {
    auto client = m_order;
    client.optimizer.learningRate = 0.2F;
    client.seed = 8;
    const auto outcome = checkOrder(open(), {client, {}});
    EXPECT_EQ(outcome.result.state, CheckState::failed);
    EXPECT_EQ(outcome.result.part, Part::order);
    ASSERT_EQ(outcome.findings.size(), 2U);
    EXPECT_NE(outcome.findings[0].text.find("learning_rate"), std::string::npos) << outcome.findings[0].text;
    EXPECT_NE(outcome.findings[0].text.find("0.2"), std::string::npos);
    EXPECT_NE(outcome.findings[1].text.find("seed"), std::string::npos);
    m_order = client;
    expectRejected(Part::order, std::nullopt);
}

TEST_F(StaticChecksTest, anotherProgram) {
    auto program = tinyProgram();
    program.title = "another";
    ASSERT_TRUE(base::writeFileAtomic(folder() / format::kProgramName, *format::serialiseProgram(program)).has_value());
    seal();
    expectRejected(Part::order, std::nullopt);
    EXPECT_EQ(checkOrder(open(), {}).result.state, CheckState::failed); // it contradicts its own order, too
}

TEST_F(StaticChecksTest, withoutClientOrderItIsNotChecked) {
    const auto outcome = checkOrder(open(), {});
    EXPECT_EQ(outcome.result.state, CheckState::notChecked);
    EXPECT_TRUE(outcome.findings.empty());
}

// Files

TEST(PartOfFile, namesMapToPartsAndSteps) {
    const auto expect = [](const char* name, Part part, std::optional<std::uint64_t> step,
                           std::optional<Source> source) {
        const auto found = partOfFile(name, 100);
        EXPECT_EQ(found.part, part) << name;
        EXPECT_EQ(found.step, step) << name;
        EXPECT_EQ(found.source, source) << name;
    };
    expect("logs/000012.rlog", Part::logRoot, 12, Source::log);
    expect("checkpoints/000100.safetensors", Part::finalFile, 100, Source::checkpoint);
    expect("checkpoints/000050.safetensors", Part::stateRoot, 50, Source::checkpoint);
    expect("init.safetensors", Part::initialState, 0, Source::checkpoint);
    expect("order.json", Part::order, {}, {});
    expect("program.json", Part::order, {}, {});
    for (const auto* name : {"leaves.bin", "steps.bin", "steps.idx", "commitment.json", "logs/12.rlog",
                             "logs/000012.rlogx", "logs/", "logs/x", ""}) {
        expect(name, Part::chain, {}, {});
    }
}

TEST_F(StaticChecksTest, changedFilesAreFoundAndMapped) {
    const std::tuple<std::string, Part, std::optional<std::uint64_t>> cases[] = {
        {format::logName(2), Part::logRoot, 2},          {format::checkpointName(4), Part::finalFile, 4},
        {format::checkpointName(2), Part::stateRoot, 2}, {"init.safetensors", Part::initialState, 0},
        {"leaves.bin", Part::chain, std::nullopt},
    };
    for (const auto& [name, part, step] : cases) {
        build(m_order);
        const auto size = *base::fileSize(folder() / name);
        flip(name, static_cast<std::size_t>(size) - 1);
        const auto outcome = *checkFiles(open());
        EXPECT_EQ(outcome.result.state, CheckState::failed) << name;
        EXPECT_EQ(outcome.result.part, part) << name;
        EXPECT_EQ(outcome.result.step, step) << name;
        ASSERT_EQ(outcome.findings.size(), 1U);
        EXPECT_NE(outcome.findings[0].text.find(name), std::string::npos);
        EXPECT_EQ(decide().verdict, Verdict::rejected);
    }
}

// Leaves

TEST_F(StaticChecksTest, leafThatIsNotTheHashOfItsRecord) {
    rewrite([](auto& records) { records[2].leaf.lossBits ^= 1; }, false);
    expectRejected(Part::chain, 2);
}

TEST_F(StaticChecksTest, brokenChain) {
    rewrite([](auto& records) { records[3].leaf.previous = records[2].leaf.previous; }, false);
    expectRejected(Part::chain, 3);
}

TEST_F(StaticChecksTest, stepsOutOfOrderRepeatedOrOfAnotherRun) {
    rewrite([](auto& records) { std::swap(records[2].leaf.step, records[3].leaf.step); }, true);
    expectRejected(Part::chain, 2);
    build(m_order);
    rewrite(
        [](auto& records) {
            records[3].leaf = records[2].leaf;
            records[3].tensorRoots = records[2].tensorRoots;
        },
        true);
    expectRejected(Part::chain, 3);
    build(m_order);
    rewrite([](auto& records) { records[1].leaf.order = crypto::sha256(base::asBytes("another order")); }, true);
    expectRejected(Part::chain, 1);
}

TEST_F(StaticChecksTest, fewerOrMoreStepsThanOrdered) {
    m_order.loop.steps = 6;
    m_order.checkpointEvery = 2;
    auto outcome = *checkMerkle(open(), inputs());
    EXPECT_EQ(outcome.result.state, CheckState::failed);
    EXPECT_EQ(outcome.result.part, Part::chain);
    EXPECT_EQ(outcome.result.step, 5U); // the first that is missing
    m_order.loop.steps = 3;
    outcome = *checkMerkle(open(), inputs());
    EXPECT_EQ(outcome.result.state, CheckState::failed);
    EXPECT_EQ(outcome.result.step, 4U); // the first too many
}

TEST_F(StaticChecksTest, stateRootsAndEvaluationsAsDue) {
    rewrite(
        [](auto& records) {
            records[2].leaf.stateRoot.reset();
            records[2].tensorRoots.clear();
        },
        true);
    expectRejected(Part::stateRoot, 2);
    build(m_order);
    rewrite([](auto& records) { records[2].leaf.evaluationBits = 0; }, true);
    expectRejected(Part::evaluation, 2);
}

TEST_F(StaticChecksTest, tensorRootsMustGiveTheStateRoot) {
    rewrite([](auto& records) { records[3].tensorRoots[1] = records[2].tensorRoots[1]; }, false);
    expectRejected(Part::stateRoot, 3);
    build(m_order);
    rewrite([](auto& records) { records[3].tensorRoots.pop_back(); }, false);
    expectRejected(Part::stateRoot, 3);
}

TEST_F(StaticChecksTest, logsMustBeTheRecordedOnes) {
    // A log from another step, sealed and signed: the manifest is right, the record is not.
    ASSERT_TRUE(base::writeFileAtomic(folder() / format::logName(3), base::ByteView(tinyLog(1))).has_value());
    seal();
    expectRejected(Part::logRoot, 3);
    build(m_order);
    ASSERT_TRUE(base::writeFileAtomic(folder() / format::logName(3), std::string_view("")).has_value());
    seal();
    expectRejected(Part::logRoot, 3);
}

TEST_F(StaticChecksTest, initialLeafHoldsNoTrainingValues) {
    rewrite([](auto& records) { records[0].leaf.lossBits = 5; }, true);
    expectRejected(Part::chain, 0);
}

TEST_F(StaticChecksTest, divergedLeafInTheMiddle) {
    rewrite(
        [](auto& records) {
            auto& leaf = records[2].leaf;
            leaf.diverged = true;
            leaf.divergedSite = "head / y";
            leaf.lossBits = 0;
            leaf.logRoot = {};
            leaf.stateRoot.reset();
            records[2].tensorRoots.clear();
            records[2].logBytes = 0;
            records[2].logSha256 = {};
        },
        true);
    expectRejected(Part::logRoot,
                   2); // a step that broke down has no log, and none may follow; the log comes first in the list
    const auto outcome = *checkMerkle(open(), inputs());
    EXPECT_TRUE(std::any_of(outcome.findings.begin(), outcome.findings.end(), [](const Finding& finding) {
        return finding.where.part == Part::chain && finding.where.step == 2U;
    }));
}

TEST_F(StaticChecksTest, committedRootOrSizeOfAnotherTree) {
    const auto path = folder() / format::kCommitmentName;
    const auto good = *format::parseCommitment(*base::readFile(path, 1 << 20));
    const auto plant = [&](auto change) {
        auto commitment = good;
        change(commitment);
        ASSERT_TRUE(base::writeFileAtomic(path, format::serialiseCommitment(commitment)).has_value());
        auto manifest = *format::parseManifest(*base::readFile(folder() / format::kManifestName, 1 << 20));
        for (auto& entry : manifest.files) {
            if (entry.name == format::kCommitmentName) {
                const auto bytes = *base::readFile(path, 1 << 20);
                entry.size = bytes.size();
                entry.sha256 = crypto::sha256(bytes);
            }
        }
        ASSERT_TRUE(
            base::writeFileAtomic(folder() / format::kManifestName, format::serialiseManifest(manifest)).has_value());
        const auto outcome = *checkMerkle(open(), inputs());
        EXPECT_EQ(outcome.result.state, CheckState::failed);
        EXPECT_EQ(outcome.result.part, Part::chain);
    };
    const auto other = crypto::sha256(base::asBytes("other"));
    plant([&](format::Commitment& commitment) { commitment.root = other; });
    plant([&](format::Commitment& commitment) { commitment.leaves += 1; });
    plant([&](format::Commitment& commitment) { commitment.order = other; });
    plant([&](format::Commitment& commitment) { commitment.diverged = true; });
    plant([&](format::Commitment& commitment) { commitment.checkpointNote = "nonsense"; });
}

TEST_F(StaticChecksTest, checkpointNoteOfAnotherTraining) {
    const auto path = folder() / format::kCommitmentName;
    auto commitment = *format::parseCommitment(*base::readFile(path, 1 << 20));
    const auto foreign = [&](const std::string& origin) {
        const merkle::Checkpoint note{origin, merkle::TreeSize{commitment.leaves}, commitment.root};
        auto changed = commitment;
        changed.checkpointNote = *merkle::signCheckpoint(note, origin, m_key);
        const auto text = format::serialiseCommitment(changed);
        EXPECT_TRUE(base::writeFileAtomic(path, text).has_value());
        auto manifest = *format::parseManifest(*base::readFile(folder() / format::kManifestName, 1 << 20));
        for (auto& entry : manifest.files) {
            entry.size = entry.name == format::kCommitmentName ? text.size() : entry.size;
        }
        EXPECT_TRUE(base::writeFileAtomic(folder() / format::kManifestName, format::serialiseManifest(manifest)));
        const auto outcome = checkMerkle(open(), inputs());
        EXPECT_EQ(outcome->result.state, CheckState::failed) << origin;
        EXPECT_EQ(outcome->result.part, Part::chain) << origin;
    };
    // Of another order, of another kind of log, and of this order written in another way.
    foreign("assay/training/" + std::string(64, '0'));
    foreign("example.org/log");
    foreign("assay/training/" + m_order.program.toHex());
    auto upper = format::orderDigest(m_order).toHex();
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
    foreign("assay/training/" + upper);
}

TEST_F(StaticChecksTest, checkpointsExactlyAsOrdered) {
    m_order = tinyOrder(4, 1);
    m_order.trainerKeys = {m_key.publicKey()->toHex()};
    for (std::uint64_t missing = 1; missing < 4; ++missing) { // the last one is the final file, checked elsewhere
        build(m_order);
        fs::remove(folder() / format::checkpointName(missing));
        seal();
        expectRejected(Part::stateRoot, missing);
    }
    m_order = tinyOrder(4, 2);
    m_order.trainerKeys = {m_key.publicKey()->toHex()};
    for (const std::uint64_t undue : {1, 3}) {
        build(m_order);
        const auto bytes = *format::serialiseSafetensors(TinyState(undue).all());
        ASSERT_TRUE(base::writeFileAtomic(folder() / format::checkpointName(undue), base::ByteView(bytes)).has_value());
        seal();
        expectRejected(Part::stateRoot, undue);
    }
}

TEST_F(StaticChecksTest, statementNamesTheProfileOfEveryStep) {
    for (const auto& profiles : std::vector<std::vector<format::ProfileRange>>{
             {}, {{1, 3, "haswell"}}, {{1, 5, "haswell"}}, {{1, 2, "haswell"}, {3, 9, "prescott"}}}) {
        ASSERT_TRUE(format::sealSubmission(folder(), pemOf(m_key), "0.1.0", profiles).has_value());
        expectRejected(Part::signature, std::nullopt);
    }
    ASSERT_TRUE(
        format::sealSubmission(folder(), pemOf(m_key), "0.1.0", {{1, 2, "haswell"}, {3, 4, "prescott"}}).has_value());
    EXPECT_EQ(decide().verdict, Verdict::accepted);
}

TEST_F(StaticChecksTest, nothingToHashIsStillCancellable) {
    std::stop_source source;
    source.request_stop();
    const auto submission = open();
    EXPECT_EQ(checkFiles(submission, {}, source.get_token()).error().code, base::ErrorCode::cancelled);
    EXPECT_EQ(checkMerkle(submission, inputs(), {}, source.get_token()).error().code, base::ErrorCode::cancelled);
    EXPECT_EQ(checkFinalCheckpoint(submission, {}, source.get_token()).error().code, base::ErrorCode::cancelled);
}

TEST_F(StaticChecksTest, progressReachesItsTotal) {
    std::uint64_t done = 0;
    std::uint64_t total = 1;
    const auto listen = [&](const base::Progress& progress) {
        EXPECT_GE(progress.done, done);
        done = progress.done;
        total = progress.total;
    };
    ASSERT_TRUE(checkMerkle(open(), inputs(), listen).has_value());
    EXPECT_EQ(done, total);
    EXPECT_EQ(total, 5U);
}

// States

TEST_F(StaticChecksTest, anotherInitialState) {
    m_order.initialState = crypto::sha256(base::asBytes("other"));
    const auto outcome = *checkInitialState(open(), inputs());
    EXPECT_EQ(outcome.result.state, CheckState::failed);
    EXPECT_EQ(outcome.result.part, Part::initialState);
    EXPECT_EQ(outcome.result.step, 0U);
}

TEST_F(StaticChecksTest, firstLeafCommitsToAnotherState) {
    const auto other = format::commitState(TinyState(7).all());
    rewrite(
        [&](auto& records) {
            records[0].leaf.stateRoot = other.root;
            records[0].tensorRoots = other.tensorRoots;
        },
        true);
    expectRejected(Part::initialState, 0);
}

TEST_F(StaticChecksTest, optimizerStateThatDoesNotStartAtZero) {
    auto state = TinyState(0);
    state.counter = {1};
    const auto other = format::commitState(state.all());
    rewrite(
        [&](auto& records) {
            records[0].leaf.stateRoot = other.root;
            records[0].tensorRoots = other.tensorRoots;
        },
        true);
    expectRejected(Part::initialState, 0);
}

TEST_F(StaticChecksTest, exchangedFinalFile) {
    TinyState state(4);
    state.weight[5] += 1.0F;
    ASSERT_TRUE(format::writeSafetensors(folder() / format::checkpointName(4), state.all()).has_value());
    seal();
    expectRejected(Part::finalFile, 4);
    const auto decision = decide();
    EXPECT_EQ(decision.firstDivergence->tensor, "head.weight");
    EXPECT_EQ(decision.firstDivergence->source, Source::checkpoint);
    EXPECT_FALSE(decision.firstDivergence->element.has_value()); // only a replay can tell
}

TEST_F(StaticChecksTest, splicedCheckpointInTheMiddle) {
    ASSERT_TRUE(format::writeSafetensors(folder() / format::checkpointName(2), TinyState(9).all()).has_value());
    seal();
    expectRejected(Part::stateRoot, 2);
    EXPECT_EQ(decide().firstDivergence->source, Source::checkpoint);
}

TEST_F(StaticChecksTest, missingFinalFile) {
    fs::remove(folder() / format::checkpointName(4));
    ASSERT_TRUE(format::sealSubmission(folder(), pemOf(m_key), "0.1.0", {{1, 4, "haswell"}}).has_value());
    expectRejected(Part::finalFile, 4);
}

// Data

TEST_F(StaticChecksTest, dataOfTheOrderAndOthers) {
    const auto data = m_scratch.path() / "data";
    fs::create_directory(data);
    std::string text;
    for (int i = 0; i < 200; ++i) {
        text.push_back(static_cast<char>('a' + i * 7 % 26));
    }
    ASSERT_TRUE(base::writeFileAtomic(data / "text.txt", text).has_value());
    format::DatasetRequest request;
    request.reader = "text";
    request.path = data;
    request.context = 8;
    auto spec = format::Dataset::build(request);
    ASSERT_TRUE(spec.has_value()) << spec.error().toString();
    m_order.data = *spec;
    const auto submission = open();
    auto good = checkData(submission, inputs(), data);
    ASSERT_TRUE(good.has_value()) << good.error().toString();
    EXPECT_EQ(good->check.result.state, CheckState::passed);
    EXPECT_TRUE(good->dataset.has_value());

    text[100] ^= 1;
    ASSERT_TRUE(base::writeFileAtomic(data / "text.txt", text).has_value());
    const auto bad = checkData(submission, inputs(), data);
    ASSERT_TRUE(bad.has_value()) << bad.error().toString();
    EXPECT_EQ(bad->check.result.state, CheckState::failed);
    EXPECT_EQ(bad->check.result.part, Part::data);
    EXPECT_NE(bad->check.findings.at(0).text.find("text.txt"), std::string::npos);
    EXPECT_FALSE(bad->dataset.has_value());

    const auto missing = checkData(submission, inputs(), m_scratch.path() / "nowhere");
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().code, base::ErrorCode::unreadable) << missing.error().toString();
}

} // namespace
} // namespace assay::test
