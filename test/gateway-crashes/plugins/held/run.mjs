#!/usr/bin/env node
// A plugin that outlives its gateway: it records in the ledger that it runs, waits until it is released, and only then
// answers. A child of its own shows whether the whole group is killed.
import { spawn } from "node:child_process";

let text = "";
for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk;
const { job_id, state, config } = JSON.parse(text);
const child = spawn("sleep", ["3600"], { stdio: "ignore" });
const { pid } = process;

function record(effect) {
  const body = JSON.stringify({ case: config.case, job_id, pid, ...effect });
  return fetch(`${config.ledger}/effects`, { method: "POST", body });
}

try {
  await record({ name: "execution", step: "held", child: child.pid });
  await fetch(`${config.ledger}/notes/${encodeURIComponent(`release ${config.case} ${pid}`)}`);
  const { count = 0, jobs = [] } = state;
  const response = {
    status: "ok",
    result: "held and released",
    events: [{ type: "held.released", payload: {} }],
    state_updates: { count: count + 1, jobs: [...jobs, job_id] },
  };
  // Without a gateway nothing reads it.
  process.stdout.on("error", () => {});
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(response)}\n`, resolve));
  await record({ name: "late end" });
} finally {
  child.kill("SIGKILL");
}
