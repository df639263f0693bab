// Promise: a call to an MCP server that a crash cut off is of unknown outcome, or made again under its key where that is the
// same as once. It is never made a second time in silence.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startProcess } from "../another-process.ts";
import { eachDatabase, type World } from "../databases.ts";
import { type Given, victim } from "./mortal-mcp.ts";
import { countIn, newFolder } from "./small-servers.ts";

const program = import.meta.resolve("./mortal-mcp.ts");

async function goesOn(world: World, given: Given) {
  const { ended } = startProcess(world, program, given);
  expect(await ended).toMatchObject({ signal: "SIGKILL" });
  const { agent, close } = await victim(given);
  onTestFinished(close);
  const holdfast = await world.open(agent, { leaseMs: 1_000, pollMs: 100 });
  const thread = await holdfast.threads.open("mortal", { agent: "victim" });
  expect(await thread.wait()).toMatchObject({ status: "completed", final_content: "Done." });
  const result = (await thread.messages()).find(({ message }) => message.type === "tool_result");
  return { holdfast, payload: result?.message.payload };
}

eachDatabase((newWorld) => {
  it("leaves the outcome unknown, and lets somebody say what it was", async () => {
    const ledger = join(newFolder(), "ledger");
    const { holdfast, payload } = await goesOn(await newWorld(), { ledger, idempotent: false });
    expect(payload).toMatchObject({ success: false, metadata: { error_type: "outcome_unknown" } });
    expect(await holdfast.calls.unknown()).toMatchObject([{ tool_name: "small/kill" }]);
    expect(countIn(ledger, "kill")).toBe(1);
  });

  it("is made again under the same key where the tool may be repeated", async () => {
    const ledger = join(newFolder(), "ledger");
    const { holdfast, payload } = await goesOn(await newWorld(), { ledger, idempotent: true });
    expect(payload).toMatchObject({ success: true, result: "spared" });
    expect(await holdfast.calls.unknown()).toEqual([]);
    expect(countIn(ledger, "kill")).toBe(2);
    const keys = readFileSync(ledger, "utf8").match(/^key hf_\w+$/gm) ?? [];
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
  });
});
