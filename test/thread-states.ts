// The ground of tests about the state of threads: real stores on SQLite, and states of threads that nobody runs.
import { onTestFinished } from "vitest";
import { aCommit, aMessage, anEntry } from "../src/backend/contract/a-commit.ts";
import { claim } from "../src/backend/contract/stores-in-test.ts";
import { openStores } from "../src/backend/sql/open-stores.ts";
import type { SqlDriver } from "../src/backend/sql-driver.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import type { NewMessage, Thread } from "../src/backend/thread-rows.ts";
import type { ChildLink } from "../src/backend/thread-store.ts";
import type { Write } from "../src/backend/write.ts";
import type { Message } from "../src/contracts/conversation/message.ts";
import * as consent from "../src/contracts/trust/consent.ts";
import { ignoreCrashPoints } from "../src/engine/crash-points.ts";
import { createMemory } from "../src/memory/memory.ts";
import { createCounters } from "../src/threads/counters.ts";
import { createRegistry, type Definitions } from "../src/threads/definitions/registry.ts";
import type { Host } from "../src/threads/host.ts";
import { createProgress } from "../src/threads/progress.ts";
import { createSealing } from "../src/threads/secrets/sealing.ts";
import { directBuffer } from "../src/threads/state/direct-buffer.ts";
import { KeptWrites } from "../src/threads/state/state-buffer.ts";
import type { StateScope } from "../src/threads/state/state-scope.ts";
import { createLiveTexts } from "../src/threads/stream/live-texts.ts";
import { createSwitches } from "../src/threads/switches.ts";
import { createAuthority } from "../src/trust/authority.ts";

export type Surroundings = Partial<Definitions> & Partial<Pick<Host, "env" | "userEnv">>;

/** A host on an empty database, closed when the test is over. */
export async function hostInTest(surroundings: Surroundings = {}): Promise<Host> {
  const driver = await sqlite(":memory:").open();
  onTestFinished(() => driver.close());
  return await hostOn(driver, surroundings);
}

/** A host on a database of one process. */
export async function hostOn(
  driver: SqlDriver,
  { env = {}, userEnv, ...definitions }: Surroundings = {},
): Promise<Host> {
  const sealing = createSealing(Buffer.alloc(32, 7));
  const stores = await openStores(driver, { keyFingerprint: sealing.fingerprint });
  const { registry } = createRegistry(definitions);
  return {
    ...{ stores, sealing, registry, agents: registry.agents, env, ...(userEnv && { userEnv }) },
    endpoints: [],
    memory: createMemory(
      {},
      { memories: stores.memories, identities: stores.identities, now: Date.now, report: () => undefined },
    ),
    trust: {
      authority: createAuthority({}, async () => false),
      consent: consent.decide,
    },
    models: new Map(),
    switches: await createSwitches({ store: stores.switches, isShared: false, report: () => undefined }),
    counters: createCounters(),
    progress: createProgress(stores.threads, { isShared: false }),
    liveTexts: createLiveTexts(stores.liveText, { isShared: false }),
    onCrashPoint: ignoreCrashPoints,
    report(error) {
      throw error;
    },
    now: Date.now,
    isShared: false,
    news: new Set(),
    leaseMs: 1_000,
    verifies: false,
  };
}

type ThreadParts = {
  readonly agent?: string;
  readonly parent?: string;
  readonly userId?: string;
  readonly child?: Partial<ChildLink>;
  readonly arguments?: object;
};

export async function openThread(host: Host, parts: ThreadParts = {}): Promise<Thread> {
  const { agent = "support", parent = null, userId = null } = parts;
  const id = crypto.randomUUID();
  const opened = await host.stores.threads.open({
    ...{ id, key: `key of ${id}`, agent, budget: null, state_version: 1, hash: "first hash", tags: [] },
    ...{ parent_id: parent, user_id: userId },
    child: parent === null ? null : { ...aLink, agent, ...parts.child },
    child_status: parent === null ? null : "running",
    arguments: parts.arguments ? host.sealing.seal(JSON.stringify(parts.arguments), id) : null,
  });
  return opened.thread;
}

const aLink: ChildLink = {
  ...{ agent: "", relationship: "helper", side: "a", title: "Helper", description: "Helps.", blocking: false },
  ...{ resumable: true, receives_messages: "side_a", parent_communication: "implicit", thread_name: "first" },
  ...{ spawn_group: null, request_id: null },
};

/** What a call that runs now writes: kept until `commit`. */
export function keptScope(
  host: Host,
  thread: Thread,
  parts: Partial<StateScope> = {},
): StateScope & { buffer: KeptWrites } {
  return { ...scope(host, thread, parts), buffer: new KeptWrites({ hasRun: true }) };
}

/** What is written outside of any run. */
export function directScope(host: Host, thread: Thread, parts: Partial<StateScope> = {}): StateScope {
  return { ...scope(host, thread, parts), buffer: directBuffer(host, thread.id) };
}

function scope(host: Host, thread: Thread, parts: Partial<StateScope>): Omit<StateScope, "buffer"> {
  const agent = host.registry.agents.get(thread.agent);
  return { thread, arguments: {}, execution: null, agent, promptEnv: {}, context: new Map(), ...parts };
}

/** Stores what was kept, as the commit of the call would. */
export async function commit(host: Host, threadId: string, buffer: KeptWrites): Promise<void> {
  const entries = buffer.entries.map((entry): Write => ({ write: "entry", thread_id: threadId, entry }));
  const outcome = await host.stores.writes.apply(threadId, [...buffer.writes, ...entries]);
  if (outcome !== "written") throw new Error(`The writes were not stored: ${outcome}.`);
  buffer.writes.splice(0);
  buffer.entries.splice(0);
}

/** Stores the history of a thread that has none yet, as a commit of its run would. */
export async function storeMessages(
  { stores }: Host,
  { id, agent }: Thread,
  messages: readonly (readonly [message: Message, row?: Partial<NewMessage>])[],
): Promise<void> {
  await stores.inbox.put(id, anEntry({ kind: "continue", body: "{}" }));
  const held = (await claim(stores, { agents: [agent] })).find((each) => each.id === id);
  const drained = (await stores.inbox.waiting(id)).map(({ seq }) => seq);
  const rows = messages.map(([message, row]) => aMessage("", { envelope: JSON.stringify(message), ...row }));
  const committed = held && (await stores.threads.commit(aCommit(held, { messages: rows, drained })));
  if (committed?.outcome !== "committed") throw new Error("The messages could not be stored.");
}
