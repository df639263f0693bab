// Every promise of the stores, as tests on one database.

import { describeActionStore } from "./action-store.contract.ts";
import { describeApprovalMemoryStore } from "./approval-memory-store.contract.ts";
import { describeAuditStore } from "./audit-store.contract.ts";
import { describeBridgeStore } from "./bridge-store.contract.ts";
import { describeBudgetStore } from "./budget-store.contract.ts";
import { describeChannelStore } from "./channel-store.contract.ts";
import { describeCommit } from "./commit.contract.ts";
import type { StoresInTest } from "./contract/stores-in-test.ts";
import { describeEngine } from "./engine.contract.ts";
import { describeFamily } from "./family.contract.ts";
import { describeFileStore } from "./file-store.contract.ts";
import { describeFork } from "./fork.contract.ts";
import { describeGrantStore } from "./grant-store.contract.ts";
import { describeGuidelineStore } from "./guideline-store.contract.ts";
import { describeIdentityStore } from "./identity-store.contract.ts";
import { describeInbox } from "./inbox.contract.ts";
import { describeLiveText } from "./live-text.contract.ts";
import { describeLostAnswers } from "./lost-answers.contract.ts";
import { describeMemoryStore } from "./memory-store.contract.ts";
import { describeQueryPlans } from "./query-plans.contract.ts";
import { describeRequestStore } from "./request-store.contract.ts";
import { describeSessionStore } from "./session-store.contract.ts";
import { describeStateStore } from "./state-store.contract.ts";
import { describeSubjectStore } from "./subject-store.contract.ts";
import { describeTerminate } from "./terminate.contract.ts";
import { describeThreadStore } from "./thread-store.contract.ts";
import { describeTokenStore } from "./token-store.contract.ts";
import { describeTranscript } from "./transcript.contract.ts";
import { describeWrites } from "./write.contract.ts";

/** Runs the suites. `open` gives stores on an empty database, and closes them after the test. */
export function describeStores(name: string, open: () => Promise<StoresInTest>): void {
  describeThreadStore(name, open);
  describeCommit(name, open);
  describeWrites(name, open);
  describeFamily(name, open);
  describeTerminate(name, open);
  describeFork(name, open);
  describeFileStore(name, open);
  describeStateStore(name, open);
  describeSessionStore(name, open);
  describeTranscript(name, open);
  describeChannelStore(name, open);
  describeBridgeStore(name, open);
  describeIdentityStore(name, open);
  describeInbox(name, open);
  describeRequestStore(name, open);
  describeSubjectStore(name, open);
  describeEngine(name, open);
  describeLiveText(name, open);
  describeLostAnswers(name, open);
  describeBudgetStore(name, open);
  describeAuditStore(name, open);
  describeTokenStore(name, open);
  describeGrantStore(name, open);
  describeApprovalMemoryStore(name, open);
  describeActionStore(name, open);
  describeMemoryStore(name, open);
  describeGuidelineStore(name, open);
  describeQueryPlans(name, open);
}
