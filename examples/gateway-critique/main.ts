// An agent that takes one turn per job: it asks for a page, ends, resumes with the page, asks for a critique to be
// written, ends, and resumes for the last time. gateway.yaml says which tools there are and how they are reached.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHoldfast } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { servePage } from "./page.ts";

const folder = mkdtempSync(join(tmpdir(), "gateway-critique-"));
const page = await servePage();

const holdfast = await createHoldfast({
  backend: sqlite(join(folder, "holdfast.db")),
  agents: [],
  gateway: {
    config: fileURLToPath(new URL("gateway.yaml", import.meta.url)),
    workspaceRoot: join(folder, "workspaces"),
  },
});
const { gateway } = holdfast;
if (!gateway) throw new Error("The gateway was not configured.");

const goal = `fetch web ${page.url} and produce a 2 para critique`;
const { run_id, job_ids } = await gateway.runs.start({ goal, dedupe_key: "request-17" }, { via: "api" });
const again = await gateway.runs.start({ goal, dedupe_key: "request-17" }, { via: "api" });
console.log(`the same request again starts ${again.job_ids.length} jobs`);

// Entries have ids that rise over restarts: a program that was away reads on from the last one it has seen.
for await (const { type, data } of gateway.events.follow(0)) {
  if (!type.startsWith("agent.")) continue;
  const { step = "", tool = "" } = JSON.parse(data) as { step?: number; tool?: string };
  console.log(`${type} ${step} ${tool}`.trim());
  if (type === "agent.completed" || type === "agent.escalated") break;
}

const run = await gateway.runs.get(run_id ?? "");
const [root = ""] = job_ids;
for (const { plugin, status, place } of await gateway.jobs.tree(root)) {
  console.log(`${status}: ${plugin}${place ? ` (${place.pipeline}, ${place.step_id})` : ""}`);
}
console.log(run.status === "done" ? `done: ${run.outcome}\n` : `${run.status}\n`);
console.log(readFileSync(join(folder, "workspaces", root, "artifacts/critique.md"), "utf8").trim());

await holdfast.close();
page.close();
rmSync(folder, { recursive: true });
