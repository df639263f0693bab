// Everything that durable threads keep in a database.
import type { BudgetStore } from "./budget-store.ts";
import type { Engine } from "./engine.ts";
import type { Inbox } from "./inbox.ts";
import type { LiveTextStore } from "./live-text.ts";
import type { RequestStore } from "./request-store.ts";
import type { ThreadStore } from "./thread-store.ts";

export type Stores = {
  readonly threads: ThreadStore;
  readonly inbox: Inbox;
  readonly requests: RequestStore;
  readonly engine: Engine;
  readonly liveText: LiveTextStore;
  readonly budgets: BudgetStore;
};
