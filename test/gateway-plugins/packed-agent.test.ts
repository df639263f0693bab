// The worked example of RFC-103 with nothing but processes: the agent and its tools are plugins of the packed package.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { api, inShort, openGateway } from "../gateway/gateway-world.ts";
import { startPages } from "../gateway-crashes/pages.ts";
import { startProviderServer } from "../provider-server.ts";
import type { Reply } from "../provider-server-reply.ts";
import { installPacked } from "./packed-package.ts";
import { withoutPython } from "./run-plugin.ts";

const critique = "It says where tea is poured.\n\nIt does not say when.\n";
const said = (answer: object): Reply => ({ text: JSON.stringify(answer) });
const act = (tool: string, payload: object) => said({ decision: "act", tool, tool_payload: JSON.stringify(payload) });
const judged = (answer: object) => said({ summary: "Fine.", ...answer });
const resumed = (id: string, uses: string) => [
  { id, uses },
  { id: "resume", uses: "agentic-loop" },
];

it.skipIf(withoutPython)(
  "scenario 46: with the packed package, where every turn is a process too, each exits 0",
  async () => {
    const installed = installPacked();
    expect(existsSync(join(installed, "src"))).toBe(false);
    const pages = await startPages();
    onTestFinished(() => pages.close());
    const page = pages.pageOf("tea");
    const artifacts = ["artifacts/critique.md"];
    const model = await startProviderServer({
      script: [
        said({ todo: ["The page is read."] }),
        act("jina-reader", { url: page }),
        judged({ decision: "continue" }),
        act("fabric", { output_path: "artifacts/critique.md", text: critique }),
        judged({ decision: "done", outcome: "The critique is written.", artifacts }),
      ],
    });
    onTestFinished(() => model.close());
    const { gateway, endedTree, workspaceRoot } = await openGateway({
      config: {
        plugin_roots: [join(installed, "plugins")],
        plugins: {
          "agentic-loop": {
            schedule: null,
            timeouts: { handle: "120s" },
            config: {
              ...{ max_steps: 20, max_reframes: 2, allowed_plugins: ["fetch", "fabric", "jina-reader"] },
              ...{ model: "ollama/small", base_url: model.url },
            },
          },
          "jina-reader": { uses: "fetch", config: { allow_hosts: ["127.0.0.1"] } },
          fabric: { uses: "files" },
        },
        pipelines: [
          {
            name: "agentic-tool-fetch",
            on: "agentic.tool_request.jina-reader",
            steps: resumed("fetch", "jina-reader"),
          },
          { name: "agentic-tool-fabric", on: "agentic.tool_request.fabric", steps: resumed("fabric", "fabric") },
        ],
      },
    });
    const { job_ids } = await gateway.runs.start({ goal: `fetch web ${page} and produce a critique` }, api);
    const tree = await endedTree(job_ids[0]);
    expect(inShort(tree)).toEqual([
      ...["agentic-loop succeeded", "jina-reader succeeded", "agentic-loop succeeded"],
      ...["fabric succeeded", "agentic-loop succeeded"],
    ]);
    const attempts = (await Promise.all(tree.map(async ({ id }) => (await gateway.jobs.details(id)).attempts))).flat();
    expect(attempts.map(({ exit_code }) => exit_code)).toEqual([0, 0, 0, 0, 0]);
    const run_id = `run-${job_ids[0]}`;
    expect(JSON.parse(attempts.at(-1)?.response ?? "").events).toMatchObject([
      { type: "agent.completed", payload: { run_id, steps_taken: 2, artifacts } },
    ]);
    expect(readFileSync(join(workspaceRoot, job_ids[0] ?? "", "artifacts/critique.md"), "utf8")).toBe(critique);
    expect((await gateway.runs.trace(run_id)).map(({ phase, step }) => `${phase} ${step}`)).toEqual([
      ...["frame 1", "plan 1", "act 1", "reflect 1", "plan 2", "act 2", "reflect 2"],
    ]);
  },
);
