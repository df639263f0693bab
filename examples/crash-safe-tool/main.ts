// What becomes of a tool call that is cut off while it is at work: looked up, run again under the same key, or unknown.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { agent, createHoldfast, type ToolDefinition, tool } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { callsTool, says, scriptedModel } from "holdfast/testing";

const bank = new Set<string>(); // the keys of the payments it has made; it makes none twice
const runs: string[] = [];
const begun = Promise.withResolvers<void>();

function payment(name: string, whenCutOff: Pick<ToolDefinition, "reconcile" | "idempotent">) {
  return tool({
    name,
    description: "Pays an invoice.",
    execute(_input, { idempotencyKey, signal }) {
      bank.add(idempotencyKey);
      if (runs.push(name) === 3) begun.resolve();
      return runs.length > 3 ? "paid" : sleep(60_000, "paid", { signal }); // nobody is there to hear the first three
    },
    ...whenCutOff,
  });
}
const tools = [
  payment("pay/looked-up", {
    reconcile: ({ idempotencyKey: key }) => (bank.has(key) ? { status: "done", result: "paid" } : { status: "absent" }),
  }),
  payment("pay/repeated", { idempotent: true }),
  payment("pay/neither", {}),
];
const model = scriptedModel([
  (messages) => callsTool(String(messages[0]?.content)),
  (messages) => says(String(messages.at(-1)?.content)),
  (messages) => says(String(messages.find(({ type }) => type === "tool_result")?.content)),
]);
const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
const options = { backend: sqlite(join(folder, "bank.db")), agents: [agent({ slug: "clerk", model, tools })] };

const before = await createHoldfast({ ...options, drainMs: 0 });
for (const { name } of tools) await (await before.threads.open(name, { agent: "clerk" })).queueMessage(name);
await begun.promise;
await before.close(); // no time is left for the tools to come to an end

const after = await createHoldfast(options);
for (const { name } of tools) {
  const outcome = await (await after.threads.open(name, { agent: "clerk" })).wait();
  console.log(`${name} ran ${runs.filter((each) => each === name).length} times, result: ${outcome?.final_content}`);
}
console.log(`payments made: ${bank.size}`);

for (const call of await after.calls.unknown()) {
  await after.calls.settle(call, "paid on Monday"); // somebody has found out
  const asked = await (await after.threads.get(call.thread_id)).send("Was it paid?");
  console.log(`${call.tool_name}, ${call.phase} until now: ${asked.final_content}`);
}
await after.close();
rmSync(folder, { recursive: true });
