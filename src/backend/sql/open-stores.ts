// The stores on a database: migrated, and tied to the key that its values are sealed with.
import type { SqlDriver } from "../sql-driver.ts";
import type { Stores } from "../stores.ts";
import { createActionStore } from "./actions.ts";
import { createApprovalMemoryStore } from "./approval-memory.ts";
import { attemptBatch } from "./attempt-batch.ts";
import { createAuditStore } from "./audit.ts";
import { createBridgeStore } from "./bridge.ts";
import { createBudgetStore } from "./budgets.ts";
import { createChannelStore } from "./channels.ts";
import { createEngine, THREADS } from "./engine.ts";
import { createFileStore } from "./files.ts";
import { GATEWAY_JOBS } from "./gateway/claim-job.ts";
import { createGatewayStores } from "./gateway/gateway-stores.ts";
import { createGrantStore } from "./grants.ts";
import { createGuidelineStore } from "./guidelines.ts";
import { createIdentityStore } from "./identities.ts";
import { createInbox } from "./inbox.ts";
import { checkFingerprint, fingerprintOf, keepFingerprint } from "./key-fingerprint.ts";
import type { LeasedTable } from "./leased-table.ts";
import { createLiveTextStore } from "./live-text.ts";
import { createMembershipStore } from "./membership.ts";
import { createMemoryStore } from "./memories.ts";
import { createMetricsStore } from "./metrics.ts";
import { migrate } from "./migrate.ts";
import { createOutcomeStore } from "./outcomes.ts";
import { createRequestStore } from "./requests.ts";
import { createSessionStore } from "./sessions.ts";
import { signedDeletion } from "./signed-deletion.ts";
import { createStateStore } from "./state.ts";
import { createSubjectStore } from "./subjects.ts";
import { createSwitchStore } from "./switches.ts";
import { createThreadStore } from "./threads.ts";
import { createTokenStore } from "./tokens.ts";
import { createWorkflowStore } from "./workflows.ts";
import { createWriteStore } from "./write-store.ts";

/** What a worker leases: all of it is freed when the worker dies. */
const LEASED_TABLES: readonly LeasedTable[] = [THREADS, GATEWAY_JOBS];

/** True when values were sealed in this database before, so that a new key would not do. */
export async function knowsKey(driver: SqlDriver): Promise<boolean> {
  await migrate(driver);
  return (await fingerprintOf(driver)) !== undefined;
}

/** `sign`: with the key of the installation. Without it nobody can tell a thread that was deleted from one that was removed. */
export async function openStores(
  driver: SqlDriver,
  { keyFingerprint, sign }: { readonly keyFingerprint: string; readonly sign?: (text: string) => string },
): Promise<Stores> {
  await migrate(driver);
  await checkKey(driver, keyFingerprint);
  const threads = createThreadStore(driver);
  return {
    threads: sign ? { ...threads, delete: signedDeletion(driver, threads, sign) } : threads,
    inbox: createInbox(driver),
    requests: createRequestStore(driver),
    engine: createEngine(driver),
    membership: createMembershipStore(driver, LEASED_TABLES),
    liveText: createLiveTextStore(driver),
    budgets: createBudgetStore(driver),
    files: createFileStore(driver),
    state: createStateStore(driver),
    writes: createWriteStore(driver),
    memories: createMemoryStore(driver),
    guidelines: createGuidelineStore(driver),
    audit: createAuditStore(driver),
    sessions: createSessionStore(driver),
    channels: createChannelStore(driver),
    bridge: createBridgeStore(driver),
    identities: createIdentityStore(driver),
    subjects: createSubjectStore(driver),
    tokens: createTokenStore(driver),
    grants: createGrantStore(driver),
    approvalMemory: createApprovalMemoryStore(driver),
    actions: createActionStore(driver),
    outcomes: createOutcomeStore(driver),
    switches: createSwitchStore(driver),
    metrics: createMetricsStore(driver),
    workflows: createWorkflowStore(driver),
    gateway: createGatewayStores(driver),
  };
}

/** Another key could not open what was sealed with this one: that is noticed now, not in the middle of a run. */
async function checkKey(driver: SqlDriver, fingerprint: string): Promise<void> {
  await attemptBatch(driver, [keepFingerprint(fingerprint)]);
  await checkFingerprint(driver, fingerprint);
}
