// A process that starts the voyage, or finds it as a process before has left it, and dies where it is told to.
import { writeFileSync } from "node:fs";
import { createHoldfast } from "../../src/holdfast.ts";
import { says, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import { meetFate } from "../../src/testing/crash-points.ts";
import { tell } from "../../src/testing/told.ts";
import { agent } from "../../src/threads/agent.ts";
import type { RunHandle } from "../../src/workflows/durable/run-handle.ts";
import { backendOf, LEASE_MS, SECRET_KEY } from "../survives-a-crash/database.ts";
import { effectsFile } from "./effects-file.ts";
import type { WorkflowOrder } from "./order.ts";
import { CABINS, functionsOf, voyage } from "./voyage.ts";

const order = JSON.parse(process.argv[2] ?? "{}") as WorkflowOrder;
const { database, variant, items } = order;
const meets = meetFate(order);

/** Which part of the run it is at: commits of a foreach are counted for themselves. */
let part = "before";
const many: Readonly<Record<string, string>> = { pack: "packing", unpack: "unpacking" };

async function reached(point: string): Promise<void> {
  const isTried = point.startsWith("before commit") || point.startsWith("after commit") || point.startsWith("inside");
  if (isTried) await meets(`${part}: ${point}`);
}

function fail(error: unknown): void {
  tell({ kind: "error", text: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

const functions = functionsOf({
  effects: effectsFile(order.effects),
  reached,
  runs: (name) => {
    part = many[name] ?? (part === "packing" ? "behind packing" : part === "unpacking" ? "behind unpacking" : part);
  },
});
const guide = agent({ slug: "guide", instructions: "Guide.", model: scriptedModel([says("To the sea.")]) });

const holdfast = await createHoldfast({
  backend: backendOf(database),
  agents: [guide],
  workflows: [CABINS, voyage(variant)],
  stepFunctions: functions,
  secretKey: SECRET_KEY,
  leaseMs: LEASE_MS,
  drainMs: 2_000,
  verifies: true,
  onPoint: reached,
  onError: fail,
});
tell({ kind: "ready" });

// The process that started us is gone, or wants us to come to an end.
const asked = new Promise<void>((resolve) => process.stdin.resume().once("end", resolve));

try {
  await Promise.race([play(), asked.then(() => Promise.reject(new Error("The run did not come to its end.")))]);
} catch (error) {
  fail(error);
}
await holdfast.close();
tell({ kind: "done" });
process.exit(0);

/** Everything stands under a key: a process that comes after a crash does it once more from the first line. */
async function play(): Promise<void> {
  const inputs = { items: Array.from({ length: items }, (_, item) => item) };
  const run = await holdfast.workflows.start("voyage", inputs, { key: "voyage" });
  await sendOnce(run);
  const decided = decide(run);
  const record = await run.result();
  await decided;
  writeFileSync(order.record, JSON.stringify(record));
}

async function sendOnce(run: RunHandle): Promise<void> {
  try {
    await run.send("paid", { order: { id: 7 }, cents: 12 }, { key: "paid" });
  } catch (thrown) {
    if (!(thrown instanceof Error) || !("code" in thrown) || thrown.code !== "workflow_run_ended") throw thrown;
  }
}

/** A person who agrees as soon as there is something to agree to. */
async function decide(run: RunHandle): Promise<void> {
  for await (const { type, as } of run.follow()) {
    const isAsked = type === "step.waiting" || type === "step.begun";
    if (as !== undefined || !isAsked) continue;
    for (const { id, kind } of await holdfast.requests.list({ thread: run.id, status: "pending" })) {
      if (kind === "approval") await holdfast.requests.submit(id, { decision: "accepted" });
    }
  }
}
