// Promise: plugins in the shapes in which those of protocol v2 are published run unmodified, as tools and by themselves.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import type { PlanInput, ReflectInput } from "../../src/gateway/agent/planner/planner.ts";
import type { ScriptedDecision } from "../../src/gateway/agent/planner/scripted-planner.ts";
import {
  api,
  eventPayload,
  type GatewaySpec,
  inShort,
  newFolder,
  openGateway,
  plugin,
} from "../gateway/gateway-world.ts";
import { withoutPython } from "./run-plugin.ts";

const published = fileURLToPath(new URL("published", import.meta.url));

/** A gateway with some of them. */
function openPublished(names: readonly string[], { config, ...spec }: GatewaySpec) {
  return openGateway({ ...spec, config: { ...config, plugin_roots: names.map((name) => join(published, name)) } });
}

beforeEach((context) => context.skip(withoutPython !== undefined, withoutPython));

/** As RFC-103 has them. */
const rfcPipelines = [
  {
    name: "agentic-tool-fetch",
    on: "agentic.tool_request.jina-reader",
    steps: [
      { id: "fetch", uses: "jina-reader" },
      { id: "resume", uses: "agentic-loop" },
    ],
  },
  {
    name: "agentic-tool-fabric",
    on: "agentic.tool_request.fabric",
    steps: [
      { id: "fabric", uses: "fabric" },
      { id: "resume", uses: "agentic-loop" },
    ],
  },
];

describe("the agent of RFC-103, in Python, without a manifest_spec and with answers without a result", () => {
  const plugins = {
    "jina-reader": {
      uses: "run-command",
      config: { command: 'echo "page at $DUCTILE_PAYLOAD_URL"', event_type: "content_ready" },
    },
    fabric: {
      uses: "run-command",
      config: { command: 'mkdir -p artifacts; echo "On: $DUCTILE_PAYLOAD_TEXT" | tee artifacts/critique.md' },
    },
  };

  it("fetches, has a critique written and completes, through the pipelines of the RFC", async () => {
    const { gateway, endedTree, workspaceRoot, stream } = await openPublished(["first-agent", "run-command"], {
      config: { plugins, pipelines: rfcPipelines },
    });
    const { job_ids } = await gateway.runs.start(
      { goal: "A critique.", run_id: "R1", context: { url: "http://a/" } },
      api,
    );
    const tree = await endedTree(job_ids[0]);
    expect(inShort(tree)).toEqual([
      ...["agentic-loop succeeded", "jina-reader succeeded", "agentic-loop succeeded", "fabric succeeded"],
      "agentic-loop succeeded",
    ]);
    const attempts = await Promise.all(tree.map(async ({ id }) => (await gateway.jobs.details(id)).attempts));
    expect(attempts.flat().map(({ exit_code }) => exit_code)).toEqual([0, 0, 0, 0, 0]);
    expect(await gateway.runs.get("R1")).toMatchObject({ status: "done", completed_steps: [1, 2] });
    const file = join(workspaceRoot, job_ids[0] ?? "", "artifacts/critique.md");
    expect(readFileSync(file, "utf8")).toBe("On: page at http://a/\n");
    const completed = (await stream()).filter(({ type }) => type === "agent.completed");
    expect(completed).toMatchObject([{ data: { run_id: "R1", agent: "agentic-loop" } }]);
  });

  it("is left out under strict_protocol: the agent of the gateway takes its place", async () => {
    const { gateway } = await openPublished(["first-agent", "run-command"], {
      config: { plugins, pipelines: rfcPipelines, service: { strict_protocol: true } },
    });
    const warnings = gateway.warnings().filter(({ file }) => file.startsWith(join(published, "first-agent")));
    expect(warnings.map(({ message }) => message).join("\n")).toContain("manifest_spec");
  });
});

it("tools in bash and Python are called once each, one by its own command with three events that have steps of their own", async () => {
  const seen: unknown[] = [];
  const remember = (answer: ScriptedDecision) => (input: PlanInput | ReflectInput) => {
    if ("result" in input) seen.push(input.result);
    return answer;
  };
  const { run } = await openPublished(["say", "burst", "run-command"], {
    ...{ tools: ["say", "burst", "worker"] },
    script: [
      { tool: "say", tool_payload: { text: "hello" } },
      remember({ tool: "burst", tool_command: "state", tool_payload: { total: 3 } }),
      remember({ tool: "worker", tool_payload: { name: "it" } }),
      remember({ decision: "done", outcome: "All are called." }),
    ],
    config: {
      plugins: { worker: { uses: "run-command", config: { command: 'pwd; echo "$DUCTILE_PAYLOAD_NAME"' } } },
    },
  });
  const { run: ended, tree } = await run();
  expect(ended).toMatchObject({ status: "done", completed_steps: [1, 2, 3] });
  expect(inShort(tree)).toEqual([
    ...["agentic-loop succeeded", "say succeeded", "agentic-loop succeeded", "burst.state succeeded"],
    ...["agentic-loop succeeded", "agentic-loop succeeded", "agentic-loop succeeded", "worker succeeded"],
    "agentic-loop succeeded",
  ]);
  expect(seen).toMatchObject([
    { result: "hello" },
    { step: 0, total: 3, result: "3 steps" },
    { content: expect.stringMatching(new RegExp(`/${tree[0]?.id}\nit$`)) },
  ]);
});

it("a command of its own gets the payload of its caller, and no event", async () => {
  const { gateway, endedTree } = await openPublished(["burst"], {});
  const { job_ids } = await gateway.call("burst", "cpu", { payload: { count: 5 } }, api);
  expect(await endedTree(job_ids[0])).toMatchObject([{ status: "succeeded", result: "10" }]);
  const [attempt] = (await gateway.jobs.details(job_ids[0] ?? "")).attempts;
  expect(JSON.parse(attempt?.response ?? "")).toMatchObject({ took: { event: false } });
});

it("a snapshot with every poll replaces the state, and health changes nothing", async () => {
  const world = await openPublished(["greet"], { config: { plugins: { greet: { config: { name: "Ada" } } } } });
  const results: unknown[] = [];
  for (const command of ["poll", "health", "poll", "poll"]) {
    const { job_ids } = await world.gateway.call("greet", command, { payload: {} }, api);
    results.push((await world.endedTree(job_ids[0]))[0]?.result);
  }
  expect(results).toEqual([
    "Hello Ada, after {}",
    "healthy",
    'Hello Ada, after {"count": 1, "greeting 1": true}',
    'Hello Ada, after {"count": 2, "greeting 2": true}',
  ]);
});

it("what a poll has seen before starts nothing again, by the dedupe key of its event", async () => {
  const file = join(newFolder(), "watched");
  const index = plugin("index");
  const { gateway, untilIdle } = await openPublished(["watch"], {
    plugins: [index],
    config: {
      plugins: { watch: { config: { path: file } } },
      pipelines: [{ name: "index", on: "file.seen", steps: [{ uses: "index" }] }],
    },
  });
  for (const text of ["one", "one", "two", "one"]) {
    writeFileSync(file, text);
    await gateway.call("watch", "poll", { payload: {} }, api);
    await untilIdle();
  }
  const digests = index.requests.map((request) => eventPayload(request).digest);
  expect(new Set(digests).size).toBe(2);
  expect(digests).toHaveLength(2);
});

it("one whose interpreter is not installed fails as not started, and is tried again", async () => {
  const { gateway, endedTree } = await openPublished(["bun-greet"], {
    config: { plugins: { "bun-greet": { retry: { max_attempts: 2, backoff_base: "1ms" } } } },
  });
  const { job_ids } = await gateway.call("bun-greet", "handle", { payload: {} }, api);
  expect(inShort(await endedTree(job_ids[0]))).toEqual(["bun-greet failed spawn_error #2"]);
  const { attempts } = await gateway.jobs.details(job_ids[0] ?? "");
  expect(attempts).toMatchObject(Array(2).fill({ reason: "spawn_error", exit_code: 127, response: null }));
});
