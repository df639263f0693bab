// Promise: a look at a run shows what it waits for, and for how long.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: bindings of workflows
import { expect, it } from "vitest";
import type { ShownTree } from "../../src/workflows/operations/tree.ts";
import { eventually } from "../eventually.ts";
import { serveRuntime } from "../served-runtime.ts";

const branch = (id: string, step: object) => ({ role: id, steps: [{ id, ...step }] });

const waits = {
  id: "waits",
  steps: [
    {
      ...{ id: "all", type: "parallel" },
      branches: [
        branch("paid", { type: "wait", event: "paid ${inputs.order}", timeout: "2d" }),
        branch("agreed", { type: "wait", approval: { summary: "Ship it?" }, timeout: "1d" }),
        branch("answered", { type: "wait", request: { name: "address" } }),
        branch("rested", { type: "sleep", for: "1h" }),
      ],
    },
  ],
};

it("shows names of events, requests and times, and names of events only to those who may see the inputs", async () => {
  let mayRun = true;
  const trust = {
    administrators: [1],
    holdsCapability: (_user: number, name: string) => name === "workflows.run" && mayRun,
  };
  const served = await serveRuntime({}, { workflows: [waits], trust });
  try {
    const run = await served.ask(served.alice, "/workflows/waits/runs", { json: { inputs: { order: "7" } } });
    const { run_id } = JSON.parse(run.text) as { run_id: string };
    const treeFor = async (token: string) =>
      JSON.parse((await served.ask(token, `/workflow-runs/${run_id}/steps`)).text) as ShownTree;
    const tree = await eventually(async () => {
      const found = await treeFor(served.alice);
      if (found.run.status !== "suspended") throw new Error("It does not wait yet.");
      return found;
    });
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(tree.steps[0]?.branches.map(({ steps: [step] }) => step)).toMatchObject([
      { id: "paid", status: "waiting", waits_for: "event", event: "paid 7", until: time, request_id: null },
      {
        id: "agreed",
        status: "waiting",
        waits_for: "approval",
        event: null,
        until: time,
        request_id: expect.any(String),
      },
      { id: "answered", status: "waiting", waits_for: "request", until: null, request_id: expect.any(String) },
      { id: "rested", status: "waiting", waits_for: null, until: time, request_id: null },
    ]);
    // Her own run is still hers to look at.
    mayRun = false;
    const seen = await treeFor(served.alice);
    expect(seen.steps[0]?.branches[0]?.steps).toMatchObject([{ id: "paid", waits_for: "event", event: null }]);
  } finally {
    await served.close();
  }
});
