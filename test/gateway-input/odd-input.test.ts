// Whatever the operations of the gateway are asked for, they answer or refuse: nothing goes wrong that nobody planned for, in
// either database, and the gateway goes on.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Operation } from "../../src/abilities/operation.ts";
import { isOperationError } from "../../src/contracts/operation-error.ts";
import * as principals from "../../src/contracts/trust/principal.ts";
import { scriptedPlanner } from "../../src/gateway/agent/planner/scripted-planner.ts";
import { FOLLOW_GATEWAY_EVENTS } from "../../src/gateway/operations/events.ts";
import { statusOf } from "../../src/server/problem.ts";
import { eachDatabase } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { plugin } from "../gateway/gateway-world.ts";
import { type ServedGateway, serveGateway } from "../gateway-doors/served-gateway.ts";
import { inputOf, noInput, oddTexts } from "./odd-values.ts";

const owner = principals.userSession(1, "holdfast");

type NewWorld = Parameters<Parameters<typeof eachDatabase>[0]>[0];

async function furnished(newWorld: NewWorld): Promise<ServedGateway> {
  const world = await newWorld();
  const served = await serveGateway({
    backend: world.backend,
    config: {
      service: { max_workers: 4 },
      plugins: { "agentic-loop": { config: {} }, echoes: { schedules: [{ cron: "0 0 1 1 *" }] } },
      pipelines: [
        { name: "p", on: "x.y", steps: [{ uses: "echoes" }] },
        { name: "sync", on: "x.z", execution_mode: "synchronous", steps: [{ uses: "echoes" }] },
      ],
    },
    setup: {
      plugins: [plugin("echoes", undefined, { commands: ["handle", "look", "poll"] })],
      planner: scriptedPlanner([{ decision: "done", outcome: "Done." }]),
    },
  });
  await served.gateway.runs.start({ goal: "g", run_id: "R1" }, { via: "api" });
  await eventually(async () => expect(await served.gateway.schedules.list()).toHaveLength(1));
  await served.untilIdle();
  return served;
}

/** What was asked for, so that a failure can be told. */
async function expectPlanned(served: ServedGateway, { name }: Operation, input: unknown): Promise<void> {
  const leaving = new AbortController();
  const answer = await served.holdfast.abilities.call(name, input, {
    principal: owner,
    door: "http",
    signal: leaving.signal,
  });
  if (name === FOLLOW_GATEWAY_EVENTS && !isOperationError(answer)) {
    leaving.abort();
    await (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.();
  }
  const code = isOperationError(answer) ? answer.code : undefined;
  const message = isOperationError(answer) ? answer.message : "";
  const status = code === undefined ? 200 : statusOf(code);
  expect({ status: status < 500 || code === "gateway_busy", code, message }).toMatchObject({ status: true });
  expect(served.takeErrors()).toEqual([]);
}

eachDatabase((newWorld, database) => {
  const numRuns = database === "sqlite" ? 150 : 60;

  describe("an operation of the gateway", () => {
    it("answers or refuses whatever it is asked for, and a good job succeeds behind all of it", async () => {
      const served = await furnished(newWorld);
      const operations = served.holdfast.abilities.list().filter(({ capability }) => capability.startsWith("gateway."));
      expect(operations.length).toBeGreaterThan(20);
      for (const operation of operations) {
        const inputs = fc.oneof(
          { weight: 9, arbitrary: inputOf(operation.inputSchema) as fc.Arbitrary<unknown> },
          { weight: 1, arbitrary: noInput },
        );
        await fc.assert(
          fc.asyncProperty(inputs, async (input) => await expectPlanned(served, operation, input)),
          { numRuns },
        );
      }
      await served.gateway.resume();
      await served.untilIdle();
      const { job_ids } = await served.gateway.emit({ type: "x.y", payload: {} }, { via: "api" });
      expect(await served.ended(job_ids[0] ?? "")).toMatchObject({ status: "succeeded", result: "echoes is done" });
    });

    it("answers or refuses every odd text in each of its fields", async () => {
      const served = await furnished(newWorld);
      const right: Readonly<Record<string, unknown>> = {
        ...{ plugin: "echoes", command: "look", name: "p", type: "x.y", goal: "g", job_id: "x", run_id: "R1" },
        ...{ schedule_id: "default", payload: {} },
      };
      for (const operation of served.holdfast.abilities.list()) {
        if (!operation.capability.startsWith("gateway.") || operation.name === FOLLOW_GATEWAY_EVENTS) continue;
        const fields = Object.keys((operation.inputSchema as { properties?: object }).properties ?? {});
        const known = Object.fromEntries(Object.entries(right).filter(([field]) => fields.includes(field)));
        for (const field of fields) {
          for (const text of oddTexts) {
            for (const value of [text, { [text]: text, a: [text] }]) {
              await expectPlanned(served, operation, { ...known, [field]: value });
            }
          }
        }
      }
      await served.gateway.resume();
      await served.untilIdle();
    });
  });
});

describe("a route of the gateway", () => {
  it("answers or refuses every odd text in its path, its query and its headers, and never with 500", async () => {
    const served = await serveGateway({ plugins: { echoes: {} } });
    const token = await served.token();
    const written = [
      ...oddTexts.filter((text) => text.isWellFormed() && text.length < 2_000).map(encodeURIComponent),
      ...["%", "%f", "%ff", "%00", "%2e%2e%2f", "%c0%af", "a%20b", ";", "a=b", "%5c"],
    ];
    const paths = [
      "/job/:",
      "/job/:/tree",
      "/job/:/cancel",
      "/plugin/:",
      "/plugin/:/handle",
      "/plugin/echoes/:",
      "/pipeline/:",
    ];
    const more = [
      "/runs/:",
      "/runs/:/trace",
      "/runs/:/cancel",
      "/scheduler/jobs/:/default/pause",
      "/scheduler/jobs/echoes/:/resume",
    ];
    const queries = [
      "/jobs?plugin=:",
      "/jobs?status=:",
      "/jobs?after=:",
      "/jobs?from=:",
      "/jobs?to=:&limit=:",
      "/job-logs?submitted_by=:",
    ];
    const others = [
      "/events?after=:&limit=1",
      "/runs?agent=:",
      "/scheduler/breakers/:/:/reset",
      "/jobs?:=1",
      "/pipeline/p?async=:",
    ];
    for (const path of [...paths, ...more, ...queries, ...others]) {
      for (const text of written) {
        const asked = path.replaceAll(":", text);
        const leaving = new AbortController();
        const isPost =
          /cancel$|handle$|echoes\/|^\/pipeline|pause$|resume$|reset$/.test(path) && !path.startsWith("/events");
        const response = await fetch(`${served.url}${asked}`, {
          method: isPost ? "POST" : "GET",
          headers: { authorization: `Bearer ${token}` },
          signal: leaving.signal,
        });
        expect(response.status, asked).toBeLessThan(500);
        if (response.status >= 400) expect(await response.json(), asked).toMatchObject({ code: expect.any(String) });
        leaving.abort();
      }
    }
    expect(served.takeErrors()).toEqual([]);
  });
});
