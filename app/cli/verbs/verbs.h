// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/session.h"
#include "app/cli/verb_spec.h"

namespace assay::cli {

inline constexpr const char* kVersion = ASSAY_VERSION;

/// Declares every verb below `root`. The session must outlive it.
void declareVerbs(VerbSpec& root, Session& session);

// One function per file of this folder: each adds its verbs.
void addOrder(VerbSpec& root, Session& session);
void addTrain(VerbSpec& root, Session& session);
void addTamper(VerbSpec& root, Session& session);
void addVerify(VerbSpec& root, Session& session);
void addPlan(VerbSpec& root, Session& session);
void addEval(VerbSpec& root, Session& session);
void addInspect(VerbSpec& root, Session& session);
void addLog(VerbSpec& root, Session& session);
void addMerkle(VerbSpec& root, Session& session);
void addKeys(VerbSpec& root, Session& session);
void addBundle(VerbSpec& root, Session& session);
void addDemo(VerbSpec& root, Session& session);
void addVersion(VerbSpec& root, Session& session);
void addCompletion(VerbSpec& root, Session& session);

/// --json
void addJsonOption(VerbSpec& verb, Session& session);
/// --progress, for verbs that take long.
void addProgressOption(VerbSpec& verb, Session& session);

} // namespace assay::cli
