// The lists that callers are given, each with rows of one instant and the ways to read it.
import type { Stores } from "../../src/backend/stores.ts";
import type { Holdfast } from "../../src/holdfast.ts";
import type { World } from "../databases.ts";
import { admin } from "../shop-desk.ts";
import * as rows from "./rows.ts";

const { INSTANT, insertRows } = rows;

export type Source = { readonly stores: Stores; readonly holdfast: Holdfast };

export type List = {
  readonly list: string;
  /** Makes the rows, and tells the order in which they have to be listed. */
  fill(world: World, source: Source): Promise<readonly string[]>;
  /** So many of those behind what was seen, by name. Where a list has no pages, so many of the first. */
  read(source: Source, limit: number, seen: readonly string[]): Promise<readonly string[]>;
  /** `pages` unless given. `first`: only how many of the first can be said. `whole`: not even that. */
  readonly offers?: "pages" | "first" | "whole";
};

/** In no order. A language sorts them otherwise than bytes do, and a program whose text is UTF-16 does in a third way. */
const NAMES = [
  ...["b", "B", "zebra", "a", "Zebra", "A", "_", "10", "9", "a-b", "ab", "a b", "é", "e", "f"],
  ...["\u{fffd}", "\u{1f600}", "Ä", "ä", "1", "-1"],
];
const NUMBERS = [7, 3, 12, 0, 9, 1, 10, 2, 11, 4, 8, 5, 6];

const byBytes = (names: readonly string[]) =>
  names.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
const counted = NUMBERS.toSorted((one, other) => one - other).map(String);

const runIdOf = ({ run_id }: { readonly run_id: string }) => run_id;
const idOf = ({ id }: { readonly id: string }) => id;
const last = (seen: readonly string[]) => seen.at(-1);
const behind = (seen: readonly string[]) => (seen.length === 0 ? {} : { after: last(seen) ?? "" });
/** The same with its time, as operations tell it. */
const place = (seen: readonly string[]) => (seen.length === 0 ? {} : { after: `${INSTANT}:${last(seen)}` });
/** The last one as a number, or else one before all. */
const number = (seen: readonly string[]) => Number(last(seen) ?? -1);

function filled(table: string, row: (name: string) => rows.NewRow, names: readonly string[] = NAMES): List["fill"] {
  return async (world) => {
    await insertRows(world, table, names.map(row));
    return byBytes(names);
  };
}

function descending(fill: List["fill"]): List["fill"] {
  return async (world, source) => (await fill(world, source)).toReversed();
}

function sequence(table: string, row: (number: number) => rows.NewRow): List["fill"] {
  return async (world) => {
    await insertRows(world, table, NUMBERS.map(row));
    return counted;
  };
}

/** Numbered by the database as they come. */
function asTheyCome(table: string, row: (name: string) => rows.NewRow): List["fill"] {
  return async (world) => {
    for (const name of NAMES) await insertRows(world, table, [row(name)]);
    return NAMES;
  };
}

/** What an operation answers to who manages everything. */
function operation(name: string, of: string, key: string, input: (seen: readonly string[]) => object): List["read"] {
  return async ({ holdfast }, limit, seen) => {
    const answer = await holdfast.abilities.call(name, { ...input(seen), limit }, { principal: admin, door: "http" });
    const found = (answer as Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>)[of];
    return (found ?? []).map((each) => String(each[key]));
  };
}

const THREADS = filled("threads", (id) => rows.aThreadRow(id));
const THREAD: List["fill"] = filled("threads", (id) => rows.aThreadRow(id), ["thread"]);
const REQUESTS: List["fill"] = async (world, source) => {
  await THREAD(world, source);
  return await filled("requests", (id) => rows.aRequestRow(id))(world, source);
};
/** Every other one is what a thread waits for. */
const QUEUE: List["fill"] = async (world, source) => {
  await THREAD(world, source);
  const asked = NAMES.filter((_, index) => index % 2 === 0);
  await insertRows(
    world,
    "requests",
    asked.map((id) => rows.aRequestRow(id)),
  );
  await insertRows(world, "pending_actions", NAMES.filter((id) => !asked.includes(id)).map(rows.anActionRow));
  return byBytes(NAMES);
};

const HOME = { layer: "user", workspace_type: "site", workspace_id: "1", user_id: 7, agent_id: 11 };
const MEMORIES: List["fill"] = async (_world, { stores }) => {
  const metadata = { created_at: 5, updated_at: 5, confidence: 0.5 };
  for (const filename of NAMES) await stores.memories.write({ ...HOME, filename }, "the same words", { metadata });
  return byBytes(NAMES);
};
const filename = (entry: { readonly filename: string }) => entry.filename;
const scope = { ...HOME, filename: "" };

const JOBS: List["fill"] = async (world) => {
  await insertRows(world, "gateway_jobs", NAMES.map(rows.aJobRow));
  return byBytes(NAMES);
};

const nameOf = ({ name }: { readonly name: string }) => name;
const audience = (entry: { readonly audience_id: string | null }) => String(entry.audience_id);

const RUNS: List["fill"] = async (world) => {
  const rowOf = (id: string) => rows.aThreadRow(id, { kind: "workflow", agent: "" });
  await insertRows(world, "threads", NAMES.map(rowOf));
  await insertRows(
    world,
    "workflow_runs",
    NAMES.map((id) => rows.aRunRow(id)),
  );
  return byBytes(NAMES);
};
const STEPS: List["fill"] = async (world) => {
  const parents = ["undo", "2", "10", "", "2/0"];
  const all = parents.flatMap((parent) => NUMBERS.map((position) => rows.aStepRow(parent, position)));
  await insertRows(world, "workflow_steps", all);
  return byBytes(parents).flatMap((parent) => counted.map((position) => `${parent}:${position}`));
};
const stepOf = ({ parent, position }: { readonly parent: string; readonly position: number }) =>
  `${parent}:${position}`;

export const lists: readonly List[] = [
  {
    list: "runs of workflows, newest first",
    fill: descending(RUNS),
    async read({ stores }, limit, seen) {
      const id = last(seen);
      const after = id === undefined ? {} : { behind: { created_at: INSTANT, id } };
      return (await stores.workflows.list({ limit, ...after })).map(runIdOf);
    },
  },
  {
    list: "runs of one workflow that have failed, newest first",
    fill: descending(RUNS),
    async read({ stores }, limit, seen) {
      const id = last(seen);
      const after = id === undefined ? {} : { behind: { created_at: INSTANT, id } };
      const query = { workflow_id: "refunds", status: "failed", limit } as const;
      return (await stores.workflows.list({ ...query, ...after })).map(runIdOf);
    },
  },
  {
    list: "runs of workflows with a problem, newest first",
    fill: descending(RUNS),
    offers: "first",
    read: async ({ stores }, limit) => (await stores.workflows.problems(limit)).map(runIdOf),
  },
  {
    list: "runs of workflows that ended long ago",
    fill: RUNS,
    read: ({ stores }, limit, seen) => stores.workflows.prunable({ for_us: 1, limit, ...behind(seen) }),
  },
  {
    list: "runs of workflows, as an operation tells of them",
    fill: descending(RUNS),
    read: operation("holdfast/list-workflow-runs", "runs", "run_id", place),
  },
  {
    list: "steps of a run",
    fill: STEPS,
    async read({ stores }, limit, seen) {
      const [parent = "", position] = last(seen)?.split(":") ?? [];
      const after = position === undefined ? {} : { after: { parent, position: Number(position) } };
      return (await stores.workflows.steps("run", { limit, ...after })).map(stepOf);
    },
  },
  {
    list: "steps of a run that can be undone",
    fill: async (world, source) => {
      await STEPS(world, source);
      return counted.flatMap((position) =>
        byBytes(["undo", "2", "10", "", "2/0"]).map((parent) => `${parent}:${position}`),
      );
    },
    offers: "whole",
    read: async ({ stores }) => (await stores.workflows.undoable("run")).map(stepOf),
  },
  {
    list: "threads",
    fill: THREADS,
    read: async ({ stores }, limit, seen) => (await stores.threads.list({ limit, ...behind(seen) })).map(idOf),
  },
  {
    list: "threads of a status",
    fill: THREADS,
    read: async ({ stores }, limit, seen) =>
      (await stores.threads.list({ status: "idle", limit, ...behind(seen) })).map(idOf),
  },
  {
    list: "threads behind a place",
    fill: THREADS,
    async read({ stores }, limit, seen) {
      const id = last(seen);
      const after = id === undefined ? {} : { behind: { created_at: INSTANT, id } };
      return (await stores.threads.list({ limit, ...after })).map(idOf);
    },
  },
  {
    list: "threads, over the door",
    fill: THREADS,
    read: operation("holdfast/list-threads", "threads", "id", place),
  },
  {
    list: "the children of a thread",
    fill: filled("threads", (id) => rows.aThreadRow(id, { parent_id: "thread", child_relationship: "helper" })),
    read: async ({ stores }, limit, seen) =>
      (await stores.threads.children("thread", { limit, ...behind(seen) })).map(idOf),
  },
  {
    list: "all that descend from a thread",
    fill: async (world, source) => {
      await THREAD(world, source);
      return await filled("threads", (id) => rows.aThreadRow(id, { parent_id: "thread" }))(world, source);
    },
    offers: "whole",
    read: async ({ stores }) => (await stores.threads.descendants("thread")).map(idOf),
  },
  {
    list: "threads that rest",
    fill: THREADS,
    read: ({ stores }, limit, seen) => stores.threads.idle({ for_us: 1, limit, ...behind(seen) }),
  },
  {
    list: "threads that are overdue",
    fill: filled("threads", (id) => rows.aThreadRow(id, { due_at: INSTANT })),
    offers: "first",
    read: ({ stores }, limit) => stores.metrics.overdue({ for_us: 1, limit }),
  },
  {
    list: "threads of an audit",
    fill: THREADS,
    read: async ({ stores }, limit, seen) =>
      (await stores.audit.threads({ limit, after: last(seen) ?? null })).map(({ thread }) => thread),
  },
  {
    list: "tombstones",
    fill: filled("audit_tombstones", (thread_id) => ({
      ...{ thread_id, seq: 0, hash: "hash", reason: "deleted", deleted_at: INSTANT, signature: "signature" },
    })),
    offers: "whole",
    read: async ({ stores }) => (await stores.audit.tombstones()).map(({ thread }) => thread),
  },
  {
    list: "checkpoints",
    fill: sequence("audit_checkpoints", (each) => ({ number: each, statement: "{}", signature: "", at: INSTANT })),
    read: async ({ stores }, limit, seen) =>
      (await stores.audit.checkpoints({ limit, offset: seen.length })).map((each) => String(each.number)),
  },
  {
    list: "messages",
    fill: sequence("messages", rows.aMessageRow),
    read: async ({ stores }, limit, seen) =>
      (await stores.threads.messages("thread", { limit, from: number(seen) + 1 })).map(({ seq }) => String(seq)),
  },
  {
    list: "messages as they are now",
    fill: sequence("messages", rows.aMessageRow),
    read: async ({ stores }, limit, seen) =>
      (await stores.threads.currentMessages("thread", { limit, after: number(seen) })).map(({ seq }) => String(seq)),
  },
  {
    list: "messages, the newest first",
    fill: descending(sequence("messages", rows.aMessageRow)),
    read: async ({ stores }, limit, seen) => {
      const before = seen.length === 0 ? null : number(seen);
      return (await stores.threads.lastMessages("thread", { limit, before })).map(({ seq }) => String(seq));
    },
  },
  {
    list: "events",
    fill: sequence("events", rows.anEventRow),
    read: async ({ stores }, limit, seen) =>
      (await stores.threads.events("thread", { limit, after: number(seen) })).map(({ seq }) => String(seq)),
  },
  {
    list: "runs",
    fill: sequence("runs", (run) => ({
      ...{ thread_id: "thread", run, run_key: `run ${run}`, status: "ended", started_at: INSTANT },
    })),
    read: async ({ stores }, limit, seen) =>
      (await stores.threads.runs("thread", { limit, after: number(seen) })).map(({ run }) => String(run)),
  },
  {
    list: "calls of a thread",
    fill: async (world) => {
      await insertRows(
        world,
        "calls",
        NUMBERS.map((each) => rows.aCallRow("thread", each % 3, each)),
      );
      return NUMBERS.toSorted((one, other) => (one % 3) - (other % 3) || one - other).map(
        (each) => `${each % 3}.${each}`,
      );
    },
    async read({ stores }, limit, seen) {
      const [run = -1, each = -1] = (last(seen) ?? "-1.-1").split(".").map(Number);
      const found = await stores.threads.calls("thread", { limit, after: { run, number: each } });
      return found.map((call) => `${call.run}.${call.number}`);
    },
  },
  {
    list: "calls of unknown outcome",
    fill: async (world) => {
      const places = [
        [2, 0],
        [1, 1],
        [1, 0],
      ] as const;
      await insertRows(
        world,
        "calls",
        NAMES.flatMap((id) => places.map(([run, each]) => rows.aCallRow(id, run, each))),
      );
      return byBytes(NAMES).flatMap((id) => places.toReversed().map(([run, each]) => `${id} ${run}.${each}`));
    },
    offers: "first",
    read: async ({ stores }, limit) =>
      (await stores.threads.unknownCalls(limit)).map((call) => `${call.thread_id} ${call.run}.${call.number}`),
  },
  {
    list: "requests",
    fill: REQUESTS,
    read: async ({ stores }, limit, seen) => (await stores.requests.list({ limit, ...behind(seen) })).map(idOf),
  },
  {
    list: "requests of a thread that are pending",
    fill: REQUESTS,
    read: async ({ stores }, limit, seen) =>
      (await stores.requests.list({ thread_id: "thread", status: "pending", limit, ...behind(seen) })).map(idOf),
  },
  {
    list: "requests behind a place",
    fill: REQUESTS,
    async read({ stores }, limit, seen) {
      const id = last(seen);
      const after = id === undefined ? {} : { behind: { created_at: INSTANT, id } };
      return (await stores.requests.list({ limit, ...after })).map(idOf);
    },
  },
  {
    list: "requests, over the door",
    fill: REQUESTS,
    read: operation("holdfast/list-requests", "requests", "id", place),
  },
  {
    list: "actions that no thread waits for",
    fill: filled("pending_actions", rows.anActionRow),
    async read({ stores }, limit, seen) {
      const action_id = last(seen);
      const page = action_id === undefined ? { limit } : { limit, after: { created_at: INSTANT, id: action_id } };
      return (await stores.actions.list({}, page)).map((action) => action.action_id);
    },
  },
  {
    list: "the queue of approvals",
    fill: QUEUE,
    read: async ({ holdfast }, limit, seen) =>
      (await holdfast.approvals.list({ limit, offset: seen.length })).map(({ action_id }) => action_id),
  },
  {
    list: "the queue of approvals behind a place",
    fill: QUEUE,
    async read({ holdfast }, limit, seen) {
      const page = { limit, ...place(seen) };
      return (await holdfast.approvals.page({ status: "pending" }, page)).actions.map(({ action_id }) => action_id);
    },
  },
  {
    list: "the queue of approvals, over the door",
    fill: QUEUE,
    read: async ({ holdfast }, limit, seen) => {
      const input = { filters: { limit }, ...place(seen) };
      const answer = await holdfast.abilities.call("agents/list-pending-actions", input, {
        principal: admin,
        door: "http",
      });
      return (answer as { actions: readonly { action_id: string }[] }).actions.map(({ action_id }) => action_id);
    },
  },
  {
    list: "remembered decisions",
    fill: filled("approval_memory", (tool_name) => ({
      ...{ workspace_type: "site", workspace_id: "1", user_id: 7, agent_id: "desk", tool_name, policy: "direct" },
      ...{ mac: "mac", created_at: INSTANT },
    })),
    offers: "whole",
    read: async ({ stores }) => (await stores.approvalMemory.list({})).map(({ tool_name }) => tool_name),
  },
  {
    list: "effects, the newest first",
    fill: descending(filled("effects", rows.anEffectRow)),
    offers: "first",
    read: async ({ stores }, limit) => (await stores.state.effects("thread", { limit })).map(idOf),
  },
  {
    list: "guidelines",
    fill: filled("guidelines", rows.aGuidelineRow),
    async read({ stores }, limit, seen) {
      const id = last(seen);
      const page = id === undefined ? { limit } : { limit, after: { created_at: INSTANT, id } };
      return (await stores.guidelines.list({ workspace_id: "1", shared: true, private_of: null }, page)).map(idOf);
    },
  },
  {
    list: "sessions, the newest first",
    fill: descending(filled("sessions", rows.aSessionRow)),
    async read({ stores }, limit, seen) {
      const site = { workspace_type: "site", workspace_id: "1" };
      const found = await stores.sessions.list(site, 7, { limit, offset: seen.length });
      return found.map(({ session_id }) => session_id);
    },
  },
  {
    list: "shares of a session",
    fill: filled("session_shares", (id) => ({
      ...{ id, session_id: "session", shared_with: "user:8", shared_by: "user:7", consent: "{}", at: INSTANT },
    })),
    offers: "whole",
    read: async ({ stores }) => (await stores.subjects.shares("session")).map(idOf),
  },
  {
    list: "memories of one time",
    fill: MEMORIES,
    offers: "whole",
    read: async ({ stores }) => (await stores.memories.listLayer(scope, { order_by: "created_at" })).map(filename),
  },
  {
    list: "memories of one time, the newest first",
    fill: MEMORIES,
    offers: "first",
    read: async ({ stores }, limit) =>
      (await stores.memories.retrieve(scope, { order_by: "updated_at", order: "desc" }, { limit })).map(filename),
  },
  {
    list: "memories that hold the same words",
    fill: MEMORIES,
    offers: "first",
    read: async ({ stores }, limit) =>
      (await stores.memories.search(scope, "same words", { order_by: "confidence" }, { limit })).map(filename),
  },
  {
    list: "files",
    fill: async (world) => {
      await insertRows(
        world,
        "files",
        NAMES.map((name) => rows.aFileRow(`/${name}`)),
      );
      return byBytes(NAMES).map((name) => `/${name}`);
    },
    offers: "whole",
    read: async ({ stores }) => (await stores.files.list("thread", "/", { deep: true })).map(({ path }) => path),
  },
  {
    list: "values and variables of a thread",
    fill: async (world) => {
      const named = { thread_id: "thread" };
      await insertRows(
        world,
        "thread_values",
        NAMES.map((name) => ({ ...named, name, value: "1" })),
      );
      const variable = { ...named, sealed: "sealed", type: "text", inherited: 0 };
      await insertRows(
        world,
        "variables",
        NAMES.map((name) => ({ ...variable, name })),
      );
      return [...byBytes(NAMES), ...byBytes(NAMES)];
    },
    offers: "whole",
    async read({ stores }) {
      const values = (await stores.state.values("thread")).map(({ key }) => key);
      return [...values, ...(await stores.state.variables("thread")).map(nameOf)];
    },
  },
  {
    list: "tokens",
    fill: asTheyCome("tokens", rows.aTokenRow),
    async read({ stores }, limit, seen) {
      const all = await stores.tokens.list("desk");
      const after = all.find(({ label }) => label === last(seen))?.token_id ?? 0;
      return (await stores.tokens.page({ revoked: true, after, limit })).map(({ label }) => label);
    },
  },
  {
    list: "grants of an agent",
    fill: asTheyCome("grants", rows.aGrantRow),
    offers: "whole",
    read: async ({ stores }) => (await stores.grants.ofAgent("desk")).map(audience),
  },
  {
    list: "what waits for a bridge",
    fill: asTheyCome("bridge_items", (queue_id) => ({
      queue_id,
      client_id: "client",
      item: JSON.stringify({ queue_id }),
    })),
    offers: "first",
    read: async ({ stores }, limit) =>
      (await stores.bridge.pending("client", { limit })).map(({ queue_id }) => queue_id),
  },
  {
    list: "shared budgets",
    fill: filled("budgets", (name) => ({
      ...{ name, used_tokens: 0, used_nanodollars: 0, reserved_tokens: 0, reserved_nanodollars: 0 },
      updated_at: INSTANT,
    })),
    offers: "whole",
    read: async ({ stores }) => (await stores.budgets.list()).map(nameOf),
  },
  {
    list: "switches",
    fill: filled("switches", (name) => ({
      ...{ kind: "tool", name, is_off: 1, reason: "", set_by: "user:1", set_at: INSTANT },
    })),
    offers: "whole",
    read: async ({ stores }) => (await stores.switches.list()).map(nameOf),
  },
  {
    list: "jobs of the gateway, the newest first",
    fill: descending(JOBS),
    async read({ stores }, limit, seen) {
      const id = last(seen);
      const after = id === undefined ? {} : { after: { created_at: INSTANT, id } };
      return (await stores.gateway.jobs.list({ limit, ...after })).map(idOf);
    },
  },
  {
    list: "jobs of the gateway that have failed",
    fill: descending(JOBS),
    async read({ stores }, limit, seen) {
      const id = last(seen);
      const after = id === undefined ? {} : { after: { created_at: INSTANT, id } };
      return (await stores.gateway.jobs.list({ statuses: ["failed"], limit, ...after })).map(idOf);
    },
  },
  {
    list: "jobs of a tree",
    fill: sequence("gateway_jobs", (seq) => rows.aJobRow(String(seq), seq)),
    offers: "whole",
    read: async ({ stores }) => (await stores.gateway.jobs.tree("root")).map(idOf),
  },
  {
    list: "the log of jobs, the newest first",
    fill: async (world) => {
      await insertRows(world, "gateway_jobs", NAMES.filter((_, index) => index % 2 === 0).map(rows.aJobRow));
      await insertRows(
        world,
        "gateway_logged_jobs",
        NAMES.filter((_, index) => index % 2 === 1).map(rows.aLoggedJobRow),
      );
      return byBytes(NAMES).toReversed();
    },
    async read({ stores }, limit, seen) {
      const after = seen.length === 0 ? {} : { after: { created_at: INSTANT, id: last(seen) ?? "" } };
      return (await stores.gateway.jobs.log({ limit, ...after })).map(idOf);
    },
  },
  {
    list: "attempts of a job",
    fill: sequence("gateway_attempts", (epoch) => rows.anAttemptRow("job", epoch)),
    offers: "whole",
    read: async ({ stores }) => (await stores.gateway.jobs.attempts("job")).map(({ attempt }) => String(attempt)),
  },
  {
    list: "the event stream of the gateway",
    fill: sequence("gateway_events", rows.aStreamRow),
    read: async ({ stores }, limit, seen) =>
      (await stores.gateway.events.read({ limit, after: number(seen) })).map(({ id }) => String(id)),
  },
  {
    list: "facts of a plugin",
    fill: sequence("gateway_facts", rows.aFactRow),
    read: async ({ stores }, limit, seen) =>
      (await stores.gateway.pluginState.facts({ plugin: "echo", limit, after: number(seen) })).map(({ seq }) =>
        String(seq),
      ),
  },
  {
    list: "plugin states",
    fill: filled("gateway_plugin_state", (plugin) => ({ plugin, sealed_state: "", revision: 1, updated_at: INSTANT })),
    offers: "whole",
    read: async ({ stores }) => (await stores.gateway.pluginState.list()).map(({ plugin }) => plugin),
  },
  {
    list: "schedules of the gateway",
    fill: filled("gateway_schedules", rows.aScheduleRow),
    offers: "whole",
    read: async ({ stores }) => (await stores.gateway.schedules.list()).map(({ schedule_id }) => schedule_id),
  },
  {
    list: "circuit breakers",
    fill: filled("gateway_breakers", rows.aBreakerRow),
    offers: "whole",
    read: async ({ stores }) => (await stores.gateway.schedules.breakers()).map(({ command }) => command),
  },
];
