// Promise: who follows a run over HTTP comes back after a restart of the server with the id of the last event, and gets exactly the
// rest; who waits for it, decides about it or acts on it goes on too.
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { readEvents } from "../gateway-doors/event-reader.ts";
import { newFolder } from "../mcp/small-servers.ts";
import { type Served, serveRuntime } from "../served-runtime.ts";

const shipping = {
  id: "shipping",
  steps: [
    { id: "packed", type: "wait", event: "packed" },
    { id: "ok", type: "wait", approval: { summary: "Ship it?" } },
  ],
};

async function serve(path: string): Promise<Served> {
  return await serveRuntime({}, { backend: sqlite(path), workflows: [shipping] });
}

type Seen = { readonly id: string | undefined; readonly type: string };

/** What comes until there is an event of a type, or to the end. */
async function follow(served: Served, token: string, path: string, last?: string, until?: string): Promise<Seen[]> {
  const headers = last === undefined ? {} : { "last-event-id": last };
  const events = await readEvents(served.url, { path, token, headers });
  expect(events.status).toBe(200);
  const typeOf = (data: string): string => JSON.parse(data).type;
  const frames = until === undefined ? events.rest() : events.until(({ data }) => typeOf(data) === until);
  const seen = (await frames).map(({ id, data }) => ({ id, type: typeOf(data) }));
  events.leave();
  return seen;
}

it("goes on where it was", async () => {
  const path = join(newFolder(), "threads.db");
  const first = await serve(path);
  const { owner } = first;
  const post = async (served: Served, to: string, json: object) => {
    const { status, text } = await served.ask(owner, to, { json });
    expect(status, text).toBeLessThan(300);
    return JSON.parse(text);
  };
  const { run_id } = await post(first, "/workflows/shipping/runs", {});
  const stream = `/workflow-runs/${run_id}/stream`;
  const before = await follow(first, owner, stream, undefined, "step.waiting");
  expect(before.map(({ type }) => type)).toEqual(["run.started", "step.begun", "step.waiting"]);
  await first.close();

  const second = await serve(path);
  onTestFinished(() => second.close());
  const rest = follow(second, owner, stream, before.at(-1)?.id);
  await post(second, `/workflow-runs/${run_id}/events`, { event: "packed" });
  await follow(second, owner, stream, before.at(-1)?.id, "step.waiting");
  const { text } = await second.ask(owner, `/approvals?thread_id=${run_id}`);
  const [approval] = JSON.parse(text).approvals;
  await post(second, `/approvals/${approval.request_id}`, { decision: "accepted" });
  const awaited = await second.ask(owner, `/workflow-runs/${run_id}/await`);
  expect(JSON.parse(awaited.text)).toMatchObject({ status: "succeeded", terminal: true });

  const all = await follow(second, owner, stream);
  expect([...before, ...(await rest)]).toEqual(all);
  expect(all.at(-2)).toMatchObject({ type: "run.ended" });
  expect(all.at(-1)).toEqual({ id: undefined, type: "stream.ended" });
  expect(await follow(second, owner, stream, all.at(-2)?.id)).toEqual([{ id: undefined, type: "stream.ended" }]);
  const odd = await second.ask(owner, stream, { headers: { "last-event-id": "x" } });
  expect(odd).toMatchObject({ status: 400, code: "invalid_stream_position" });
});
