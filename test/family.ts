// A parent on a real database and the tools with which it has children, for tests: what a call leaves is committed as the
// runtime would commit it.
import { onTestFinished } from "vitest";
import { openStores } from "../src/backend/sql/open-stores.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import type { Thread } from "../src/backend/thread-rows.ts";
import type { Write } from "../src/backend/write.ts";
import { firstHash } from "../src/contracts/audit/chain.ts";
import type { JsonMap } from "../src/contracts/json.ts";
import type { Side } from "../src/contracts/standard/side.ts";
import { ignoreCrashPoints } from "../src/engine/crash-points.ts";
import type { Agent } from "../src/threads/agent.ts";
import { keepScope } from "../src/threads/calls/tool-scope.ts";
import type { Cast } from "../src/threads/cast/cast.ts";
import type { Prompt } from "../src/threads/definitions/prompt.ts";
import type { Registry } from "../src/threads/definitions/registry.ts";
import type { Relationship } from "../src/threads/definitions/relationship.ts";
import type { Variable } from "../src/threads/definitions/variable.ts";
import { noHooks } from "../src/threads/hooks/hook-set.ts";
import type { Host } from "../src/threads/host.ts";
import { readSchema } from "../src/threads/schemas/tool-schema.ts";
import { createSealing } from "../src/threads/secrets/sealing.ts";
import { KeptWrites } from "../src/threads/state/state-buffer.ts";
import type { ThreadState } from "../src/threads/state/thread-state.ts";
import { variableState } from "../src/threads/state/variable-state.ts";
import { STATE_VERSION } from "../src/threads/state-version.ts";
import { subagentTools } from "../src/threads/subagents/subagent-tools.ts";
import type { ToolContext } from "../src/threads/tool.ts";

/** What an agent is, as far as its place in a family goes. */
export type Member = {
  readonly a?: readonly Relationship[];
  readonly b?: readonly Relationship[];
  readonly variables?: readonly Partial<Variable>[];
  readonly env?: Readonly<Record<string, string>>;
  readonly promptEnv?: Readonly<Record<string, string>>;
  /** JSON Schema of what it is called with. */
  readonly schema?: JsonMap;
  /** A hook wants to know of its threads. */
  readonly isTold?: true;
};

export function relationship(agent: string, parts: Partial<Relationship> = {}): Relationship {
  return {
    agent,
    as: agent,
    description: `Does what ${agent} does.`,
    generation: 1,
    blocking: true,
    resumable: true,
    receivesMessages: "side_a",
    maxInstances: null,
    parentCommunication: "implicit",
    immediate: false,
    hidden: false,
    scopedEnv: [],
    ...parts,
  };
}

export type CallOptions = {
  readonly side?: Side;
  readonly requestId?: string;
  readonly byCode?: boolean;
  /** What the same commit has written before. */
  readonly before?: readonly Write[];
};

export type Family = {
  readonly host: Host;
  readonly parent: Thread;
  agent(name: string): Agent;
  /** Calls one of the parent's tools by its plain name and commits what it leaves. */
  call(name: string, input: JsonMap, options?: CallOptions): Promise<ToolReturn>;
  /** Writes as a commit of the parent would. */
  write(...writes: readonly Write[]): Promise<void>;
  /** Puts a file somewhere; its content is its path. */
  putFile(threadId: string, path: string): Promise<void>;
  setVariable(threadId: string, name: string, value: string, inherited?: boolean): Promise<void>;
  variables(threadId: string): Promise<Readonly<Record<string, string>>>;
  children(parentId?: string): Promise<readonly Thread[]>;
  /** The messages that wait in a thread's inbox. */
  inbox(threadId: string): Promise<readonly Left[]>;
  /** Everything that is stored, as one text. */
  everything(): Promise<string>;
};

export type ToolReturn = {
  readonly success: boolean;
  readonly error?: string;
  readonly status?: string;
  readonly result?: JsonMap;
  readonly metadata: JsonMap;
};

export type Left = {
  readonly kind: string;
  readonly role: string;
  readonly content: string;
  readonly metadata: JsonMap;
};

/** Where the first file of a message stands. */
export function attachedPath(left: Left | undefined): string {
  const { attachments } = left?.metadata ?? {};
  const [first] = Array.isArray(attachments) ? (attachments as readonly JsonMap[]) : [];
  return String(first?.path);
}

/** A family whose parent is of the agent `parent`. */
export async function newFamily(members: Readonly<Record<string, Member>>, env: JsonMap = {}): Promise<Family> {
  const driver = await sqlite(":memory:").open();
  onTestFinished(() => driver.close());
  const sealing = createSealing(new Uint8Array(32).fill(7));
  const stores = await openStores(driver, { keyFingerprint: sealing.fingerprint });
  const registry = registryOf(members);
  const host = { stores, sealing, registry, env, onCrashPoint: ignoreCrashPoints, now: Date.now } as unknown as Host;
  const id = crypto.randomUUID();
  await stores.threads.open({
    ...{ id, key: "parent", agent: "parent", budget: null, state_version: STATE_VERSION, hash: firstHash(id) },
    ...{ parent_id: null, user_id: "user-1", tags: [], child: null, child_status: null, arguments: null },
  });
  const parent = await stores.threads.get(id);
  if (!parent) throw new Error("The parent was not stored.");
  const agent = (name: string) => registry.agents.get(name) as Agent;

  async function write(...writes: readonly Write[]): Promise<void> {
    const outcome = await stores.writes.apply(id, writes);
    if (outcome !== "written") throw new Error(`The writes were not written: ${outcome}.`);
  }

  return {
    host,
    parent,
    agent,
    write,
    async call(name, input, { side = "a", requestId = "request-1", byCode = false, before = [] } = {}) {
      const relationships = registry.relationshipsOf(agent("parent"), side);
      const found = subagentTools(host, { agent: agent("parent"), side, relationships }).find(
        (each) => each.declaration.name === `standard/${name}`,
      );
      if (!found?.execute) throw new Error(`There is no tool ${name}.`);
      const buffer = new KeptWrites({ hasRun: true });
      await buffer.write(...before);
      const context = { threadId: id, callId: "call-1", toolName: name, attempt: 1 } as ToolContext;
      const state = variableState(host, {
        ...{ thread: parent, arguments: {}, buffer, execution: null, agent: agent("parent") },
        ...{ promptEnv: registry.promptOf(agent("parent"), side)?.env ?? {}, context: new Map() },
      }) as ThreadState;
      const cast = { agent: agent("parent"), side } as Cast;
      const scope = { host, thread: parent, cast, buffer, state, run: 1, requestId, messageId: null, hooks: noHooks };
      keepScope(context, { ...scope, byCode: byCode ?? false });
      const returned = (await found.execute(input, context)) as ToolReturn;
      if (buffer.writes.length > 0) await write(...buffer.writes);
      return returned;
    },
    async putFile(threadId, path) {
      const content = Buffer.from(path);
      const name = path.slice(path.lastIndexOf("/") + 1);
      await write({
        write: "file",
        thread_id: threadId,
        file: {
          ...{
            path,
            name,
            mime_type: "text/plain",
            size: content.length,
            is_directory: false,
            hash: `hash of ${path}`,
          },
          ...{ width: null, height: null, metadata: null, content },
        },
      });
    },
    async setVariable(threadId, name, value, inherited = false) {
      const sealed = sealing.seal(value, threadId);
      await write({ write: "variable", thread_id: threadId, name, sealed, type: "secret", inherited });
    },
    async variables(threadId) {
      const stored = await stores.state.variables(threadId);
      return Object.fromEntries(stored.map(({ name, sealed }) => [name, sealing.open(sealed, threadId)]));
    },
    children: (parentId = id) => stores.threads.children(parentId, {}),
    async inbox(threadId) {
      return (await stores.inbox.waiting(threadId)).map(({ kind, body }) => {
        const { message = {} } = JSON.parse(body) as { message?: JsonMap };
        return { kind, role: "", content: "", metadata: {}, ...message };
      });
    },
    async everything() {
      const tables = await driver.all("select name from sqlite_master where type = 'table'", []);
      const rows = await Promise.all(tables.map(({ name }) => driver.all(`select * from ${String(name)}`, [])));
      return JSON.stringify(rows);
    },
  };
}

function registryOf(members: Readonly<Record<string, Member>>): Registry {
  const agents = new Map(
    Object.entries(members).map(([slug, { env = {}, isTold }]) => {
      const hooks = isTold ? ["birth"] : [];
      return [slug, { slug, title: slug, env, hooks } as unknown as Agent];
    }),
  );
  const of = ({ slug }: Agent): Member => members[slug] ?? {};
  return {
    agents,
    hooks: new Map([["birth", { id: "birth", hook: "after_thread_created" }]]),
    promptOf(agent: Agent) {
      const { schema, promptEnv = {} } = of(agent);
      return {
        env: promptEnv,
        hooks: [] as string[],
        ...(schema && { requiredSchema: readSchema(schema) }),
      } as unknown as Prompt;
    },
    relationshipsOf: (agent: Agent, side: Side) => of(agent)[side] ?? [],
    variablesOf: (agent: Agent) =>
      (of(agent).variables ?? []).map((each) => ({
        ...{ name: "", type: "secret", required: false, scoped: false, description: "" },
        ...each,
      })),
  } as unknown as Registry;
}
