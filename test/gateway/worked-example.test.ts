// The worked example of RFC-103 with the shipped plugins: a page is fetched, a critique of it is written to a file.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { withoutPython } from "../gateway-plugins/run-plugin.ts";
import { api, inShort, openGateway } from "./gateway-world.ts";

it.skipIf(withoutPython)(
  "scenario 46: fetches a page, writes a critique of it, and completes with the file",
  async () => {
    const page = createServer((_, response) => {
      response.setHeader("Content-Type", "text/html").end("<html><body><p>An example page.</p></body></html>");
    });
    onTestFinished(() => void page.close());
    await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
    const address = page.address();
    const host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    const critique = "It is short.\n\nIt could be longer.\n";
    const steps = (id: string, uses: string) => [
      { id, uses },
      { id: "resume", uses: "agentic-loop" },
    ];
    const { gateway, endedTree, workspaceRoot, stream } = await openGateway({
      script: [
        { tool: "fetch", tool_payload: { url: `http://${host}/` } },
        { tool: "fabric", tool_payload: { output_path: "artifacts/critique.md", text: critique } },
        { decision: "done", outcome: "Two paragraphs are written.", artifacts: ["artifacts/critique.md"] },
      ],
      agent: { allowed_plugins: ["fetch", "fabric", "jina-reader"], tool_routes: { fetch: "jina-reader" } },
      config: {
        plugins: { "jina-reader": { uses: "fetch", config: { allow_hosts: [host] } }, fabric: { uses: "files" } },
        pipelines: [
          { name: "agentic-tool-fetch", on: "agentic.tool_request.jina-reader", steps: steps("fetch", "jina-reader") },
          { name: "agentic-tool-fabric", on: "agentic.tool_request.fabric", steps: steps("fabric", "fabric") },
        ],
      },
    });
    const { job_ids } = await gateway.runs.start(
      { goal: `fetch web http://${host} and produce a critique`, run_id: "R1" },
      api,
    );
    const tree = await endedTree(job_ids[0]);
    expect(inShort(tree)).toEqual([
      ...["agentic-loop succeeded", "jina-reader succeeded", "agentic-loop succeeded"],
      ...["fabric succeeded", "agentic-loop succeeded"],
    ]);
    const attempts = await Promise.all(tree.map(async ({ id }) => (await gateway.jobs.details(id)).attempts));
    // The agent's turns run inside the gateway and have no exit code.
    expect(attempts.flat().map(({ exit_code }) => exit_code)).toEqual([null, 0, null, 0, null]);
    const last = JSON.parse(attempts.at(-1)?.[0]?.response ?? "");
    expect(last.events).toMatchObject([
      { type: "agent.completed", payload: { run_id: "R1", steps_taken: 2, artifacts: ["artifacts/critique.md"] } },
    ]);
    expect(readFileSync(join(workspaceRoot, job_ids[0] ?? "", "artifacts/critique.md"), "utf8")).toBe(critique);
    const trace = (await gateway.runs.trace("R1")).map(({ phase, step }) => `${phase} ${step}`);
    expect(trace).toEqual(["frame 1", "plan 1", "act 1", "reflect 1", "plan 2", "act 2", "reflect 2"]);
    const agentEntries = (await stream()).map(({ type }) => type).filter((type) => type.startsWith("agent."));
    expect(agentEntries).toEqual([
      ...["agent.run_started", "agent.step_requested", "agent.step_resumed", "agent.step_requested"],
      ...["agent.step_resumed", "agent.completed"],
    ]);
  },
);
