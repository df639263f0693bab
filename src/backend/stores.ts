// Everything that durable threads keep in a database.

import type { ActionStore } from "./action-store.ts";
import type { ApprovalMemoryStore } from "./approval-memory-store.ts";
import type { AuditStore } from "./audit-store.ts";
import type { BridgeStore } from "./bridge-store.ts";
import type { BudgetStore } from "./budget-store.ts";
import type { ChannelStore } from "./channel-store.ts";
import type { Engine } from "./engine.ts";
import type { FileStore } from "./file-store.ts";
import type { GrantStore } from "./grant-store.ts";
import type { GuidelineStore } from "./guideline-store.ts";
import type { IdentityStore } from "./identity-store.ts";
import type { Inbox } from "./inbox.ts";
import type { LiveTextStore } from "./live-text.ts";
import type { KeptMemories } from "./memory-store.ts";
import type { RequestStore } from "./request-store.ts";
import type { SessionStore } from "./session-store.ts";
import type { StateStore } from "./state-store.ts";
import type { SubjectStore } from "./subject-store.ts";
import type { ThreadStore } from "./thread-store.ts";
import type { TokenStore } from "./token-store.ts";
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
  readonly memories: KeptMemories;
  readonly guidelines: GuidelineStore;
  readonly audit: AuditStore;
  readonly sessions: SessionStore;
  readonly channels: ChannelStore;
  readonly bridge: BridgeStore;
  readonly identities: IdentityStore;
  readonly subjects: SubjectStore;
  readonly tokens: TokenStore;
  readonly grants: GrantStore;
  readonly approvalMemory: ApprovalMemoryStore;
  readonly actions: ActionStore;
};
