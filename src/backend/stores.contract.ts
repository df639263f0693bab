// Every promise of the stores, as tests on one database.
import { describeBudgetStore } from "./budget-store.contract.ts";
import { describeCommit } from "./commit.contract.ts";
import type { StoresInTest } from "./contract/stores-in-test.ts";
import { describeEngine } from "./engine.contract.ts";
import { describeFamily } from "./family.contract.ts";
import { describeFileStore } from "./file-store.contract.ts";
import { describeFork } from "./fork.contract.ts";
import { describeInbox } from "./inbox.contract.ts";
import { describeLiveText } from "./live-text.contract.ts";
import { describeLostAnswers } from "./lost-answers.contract.ts";
import { describeQueryPlans } from "./query-plans.contract.ts";
import { describeRequestStore } from "./request-store.contract.ts";
import { describeStateStore } from "./state-store.contract.ts";
import { describeTerminate } from "./terminate.contract.ts";
import { describeThreadStore } from "./thread-store.contract.ts";
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
  describeInbox(name, open);
  describeRequestStore(name, open);
  describeEngine(name, open);
  describeLiveText(name, open);
  describeLostAnswers(name, open);
  describeBudgetStore(name, open);
  describeQueryPlans(name, open);
}
