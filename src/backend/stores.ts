// Everything that durable threads keep in a database.
import type { BudgetStore } from "./budget-store.ts";
import type { Engine } from "./engine.ts";
import type { FileStore } from "./file-store.ts";
import type { Inbox } from "./inbox.ts";
import type { LiveTextStore } from "./live-text.ts";
import type { RequestStore } from "./request-store.ts";
import type { StateStore } from "./state-store.ts";
import type { ThreadStore } from "./thread-store.ts";
import type { WriteStore } from "./write.ts";

export type Stores = {
  readonly threads: ThreadStore;
  readonly inbox: Inbox;
  readonly requests: RequestStore;
  readonly engine: Engine;
  readonly liveText: LiveTextStore;
  readonly budgets: BudgetStore;
  readonly files: FileStore;
  readonly state: StateStore;
  readonly writes: WriteStore;
};
