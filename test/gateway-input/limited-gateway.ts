// A gateway in a process of its own, which a test takes resources away from. It does what each line of its stdin says and
// answers with a line of JSON.
import { createInterface } from "node:readline";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { errorMessage, HoldfastError } from "../../src/contracts/error.ts";
import type { JsonMap } from "../../src/contracts/json.ts";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { gatewayPlugin } from "../../src/gateway/plugins/in-process-plugin.ts";
import { createHoldfast } from "../../src/holdfast.ts";
import { secretKey } from "../databases.ts";
import type { Limited } from "./limited-process.ts";

const given = JSON.parse(process.argv[2] ?? "") as Limited;
const via = { via: "api" };

/** Keeps a text in its answer and in its state, and emits it once. */
const keep = gatewayPlugin({
  name: "keep",
  commands: {
    handle: {
      run: ({ event, state }) => ({
        result: `kept ${JSON.stringify(event?.payload).length}`,
        state_updates: { count: Number(state.count ?? 0) + 1, last: event?.payload.text ?? "" },
        events: event?.type === "x.y" ? [{ type: "x.z", payload: { text: event.payload.text ?? "" } }] : [],
      }),
    },
  },
});

const retry = { max_attempts: 1_000, backoff_base: "20ms" };
const reported = new Set<string>();
const holdfast = await createHoldfast({
  backend: sqlite(given.database),
  ...{ agents: [], secretKey, drainsOnSignal: false },
  onError: (error) => void reported.add(codeOf(error)),
  gateway: {
    config: {
      plugin_roots: given.root === undefined ? [] : [given.root],
      plugins: { keep: { retry }, "agentic-loop": { retry }, ...(given.root !== undefined && { program: { retry } }) },
      pipelines: [
        { name: "first", on: "x.y", steps: [{ uses: "keep" }] },
        { name: "second", on: "x.z", steps: [{ uses: "keep" }] },
      ],
    },
    plugins: [keep],
    planner: scriptedPlanner([{ decision: "done", outcome: "It is done." }]),
    workspaceRoot: given.workspaces,
    onLog: () => undefined,
  },
});
const { gateway } = holdfast;
if (!gateway) throw new Error("There is no gateway.");

function codeOf(thrown: unknown): string {
  return thrown instanceof HoldfastError ? thrown.code : errorMessage(thrown);
}

const commands: Readonly<Record<string, (input: JsonMap) => Promise<unknown>>> = {
  /** An event; or the code with which it was refused. */
  async emit({ text = "" }) {
    try {
      return { ids: (await gateway.emit({ type: "x.y", payload: { text } }, via)).job_ids };
    } catch (thrown) {
      return { refused: codeOf(thrown) };
    }
  },
  call: async () => ({ ids: (await gateway.call("program", "handle", { payload: {} }, via)).job_ids }),
  start: async ({ goal = "" }) => ({
    ids: (await gateway.runs.start({ goal: String(goal), run_id: "R1" }, via)).job_ids,
  }),
  job: async ({ id = "" }) => {
    const { status, attempt, reason, result } = await gateway.jobs.get(String(id));
    return { status, attempt, reason, result };
  },
  tree: async ({ id = "" }) =>
    (await gateway.jobs.tree(String(id))).map(({ status, attempt }) => ({ status, attempt })),
  attempts: async ({ id = "" }) =>
    (await gateway.jobs.details(String(id))).attempts.map(({ outcome, error }) => ({ outcome, error })),
  list: async () => (await gateway.jobs.list({ limit: 200 })).map(({ id, status }) => ({ id, status })),
  runs: async () => (await gateway.runs.list()).map(({ run_id, status }) => ({ run_id, status })),
  trace: async () => await gateway.runs.trace("R1"),
  status: async () => (await gateway.status()).jobs,
  reported: async () => [...reported],
};

console.log(JSON.stringify({ pid: process.pid }));
for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...input } = JSON.parse(line) as JsonMap & { readonly command: string };
  console.log(JSON.stringify((await commands[command]?.(input)) ?? null));
}
await holdfast.close();
