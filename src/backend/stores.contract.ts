// Every promise of the stores, as tests on one database.
import { describeBudgetStore } from "./budget-store.contract.ts";
import { describeCommit } from "./commit.contract.ts";
import type { StoresInTest } from "./contract/stores-in-test.ts";
import { describeEngine } from "./engine.contract.ts";
import { describeFork } from "./fork.contract.ts";
import { describeInbox } from "./inbox.contract.ts";
import { describeLiveText } from "./live-text.contract.ts";
import { describeLostAnswers } from "./lost-answers.contract.ts";
import { describeQueryPlans } from "./query-plans.contract.ts";
import { describeRequestStore } from "./request-store.contract.ts";
import { describeThreadStore } from "./thread-store.contract.ts";

/** Runs the suites. `open` gives stores on an empty database, and closes them after the test. */
export function describeStores(name: string, open: () => Promise<StoresInTest>): void {
  describeThreadStore(name, open);
  describeCommit(name, open);
  describeFork(name, open);
  describeInbox(name, open);
  describeRequestStore(name, open);
  describeEngine(name, open);
  describeLiveText(name, open);
  describeLostAnswers(name, open);
  describeBudgetStore(name, open);
  describeQueryPlans(name, open);
}
