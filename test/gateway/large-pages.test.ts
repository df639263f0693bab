// What a tool has stored in the workspace itself is not replaced by the shorter text of its event.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { serve } from "../gateway-plugins/local-server.ts";
import { api, openGateway, toolPipeline } from "./gateway-world.ts";

it("a page that is larger than its event stays whole in the workspace", async () => {
  const page = `<p>${"x".repeat(100_000)}</p>`;
  const { host } = await serve((_, response) => void response.setHeader("Content-Type", "text/html").end(page));
  const { gateway, endedTree, workspaceRoot } = await openGateway({
    script: [
      { tool: "fetch", tool_payload: { url: `http://${host}/` } },
      { decision: "done", outcome: "Read." },
    ],
    agent: { allowed_plugins: ["fetch"] },
    config: {
      plugins: { fetch: { config: { allow_hosts: [host] } } },
      pipelines: [toolPipeline("fetch")],
    },
  });
  const { job_ids } = await gateway.runs.start({ goal: "Read the page.", run_id: "R1" }, api);
  const last = (await endedTree(job_ids[0])).at(-1);
  expect(last?.status).toBe("succeeded");
  expect(readFileSync(join(workspaceRoot, job_ids[0] ?? "", "artifacts/fetch-01.html"), "utf8")).toBe(page);
});
