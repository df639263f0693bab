// An agent of another maker says of its runs what it likes: the event stream goes on, and tells names and numbers alone.
import { expect, it } from "vitest";
import type { JsonMap } from "../../src/contracts/json.ts";
import { agentEntries } from "../../src/gateway/dispatch/commit/agent-entries.ts";
import { api, openGateway, plugin } from "./gateway-world.ts";

const PIN = "12345678";

/** Runs an agent that answers like this, and gives what the event stream says of it. */
async function entriesOf(answer: {
  readonly events: readonly { type: string; payload: JsonMap }[];
  readonly runs?: JsonMap;
}) {
  const { events, runs = {} } = answer;
  const other = plugin("other", () => ({ events, state_updates: { runs } }));
  const world = await openGateway({
    plugins: [other],
    config: { plugins: { other: { agent: true, config: { api_key: PIN } } } },
  });
  const { job_ids } = await world.gateway.call("other", "handle", { payload: { goal: "Go.", pin: 12345678 } }, api);
  const [job] = await world.endedTree(job_ids[0]);
  return { ...world, job, entries: (await world.stream()).filter(({ type }) => type.startsWith("agent.")) };
}

it("a number that is a secret stays out of the stream, and does not end it", async () => {
  const payload = { run_id: "R1", step: 12345678, tool: "tool", attempt: 1 };
  const { entries, job, gateway } = await entriesOf({ events: [{ type: "agentic.tool_request.tool", payload }] });
  expect(entries).toEqual([{ type: "agent.step_requested", data: { ...payload, agent: "other", step: "[redacted]" } }]);
  expect((await gateway.jobs.get(job?.id ?? "")).payload).toMatchObject({
    payload: { goal: "Go.", pin: "[redacted]" },
  });
  const { attempts } = await gateway.jobs.details(job?.id ?? "");
  expect(JSON.parse(attempts[0]?.response ?? "")).toMatchObject({
    status: "ok",
    events: [{ payload: { run_id: "R1" } }],
  });
});

it("what is no name and no number is left out, and names are clipped", async () => {
  const long = "x".repeat(100_000);
  const { entries } = await entriesOf({
    events: [
      {
        type: "agentic.tool_request.tool",
        payload: { run_id: long, step: 1.5, tool: { text: "private" }, attempt: "2" },
      },
      { type: "agent.completed", payload: { run_id: ["private"], steps_taken: { n: "private" } } },
      { type: "agent.escalated", payload: { run_id: "R1", reason: { detail: "private" } } },
      { type: "agent.escalated", payload: { run_id: "R1", reason: long } },
    ],
    runs: { [long]: { status: "running" } },
  });
  expect(JSON.stringify(entries)).not.toContain("private");
  expect(JSON.stringify(entries).length).toBeLessThan(2_000);
  expect(entries.map(({ type, data }) => [type, data.step ?? data.steps_taken ?? data.reason ?? null])).toEqual([
    ["agent.run_started", null],
    ["agent.step_requested", null],
    ["agent.completed", null],
    ["agent.escalated", null],
    ["agent.escalated", "x".repeat(256)],
  ]);
});

it("a turn that claims any number of steps is told of with a thousand entries", async () => {
  const steps = Array.from({ length: 100_000 }, (_, index) => index);
  const { entries } = await entriesOf({ events: [], runs: { R1: { completed_steps: steps } } });
  expect(entries.map(({ type }) => type)).toEqual(["agent.run_started"]);
  const of = (completed_steps: readonly number[]) => ({ runs: { R1: { completed_steps } } });
  const told = agentEntries({ agent: "other", before: of([]), after: of(steps), events: [] });
  expect(told).toHaveLength(1_000);
  expect(agentEntries({ agent: "other", before: of(steps), after: of(steps), events: [] })).toEqual([]);
});
