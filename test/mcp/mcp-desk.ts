// A runtime with agents of two users, for those who come through MCP: a clerk who answers, and a cashier whose tool waits
// for a person.
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import { createHoldfast, type Holdfast } from "../../src/holdfast.ts";
import { callsTool, says, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import { agent } from "../../src/threads/agent.ts";
import { tool } from "../../src/threads/tool.ts";

export const ANN = 7;
export const BEN = 8;

const refund = tool({
  name: "shop/refund",
  description: "Refunds an order.",
  actionPolicy: "preview",
  execute: () => "refunded",
});

const noisy = tool({
  name: "shop/noisy",
  description: "Prints what it does.",
  execute() {
    console.log("This is for people, not for the protocol.");
    // What is JSON and no message, and what would be the beginning of the next line.
    process.stdout.write('{"no":"message"}\n and then');
    return "printed";
  },
});

/** `gate`: what the slow one waits for. */
function agents(gate = Promise.resolve()) {
  const atLast = async () => {
    await gate;
    return says("At last.");
  };
  const answers = Array.from({ length: 20 }, (_, index) => says(`Answer ${index + 1}.`));
  return [
    agent({ slug: "clerk", model: scriptedModel(answers) }),
    agent({ slug: "cashier", model: scriptedModel([callsTool("shop/refund"), says("Done.")]), tools: [refund] }),
    agent({ slug: "printer", model: scriptedModel([callsTool("shop/noisy"), says("Printed.")]), tools: [noisy] }),
    agent({ slug: "slow", model: scriptedModel([atLast]) }),
  ];
}

/** Ann may use all of them, Ben the clerk. */
export async function openDesk(path: string, gate?: Promise<void>): Promise<Holdfast> {
  const holdfast = await createHoldfast({
    backend: sqlite(path),
    agents: agents(gate),
    secretKey: "5ec4e7".padEnd(64, "0"),
  });
  for (const slug of ["clerk", "cashier", "printer", "slow"]) {
    await holdfast.grants.grant({ agent: slug, user_id: ANN, role: "operator" });
  }
  await holdfast.grants.grant({ agent: "clerk", user_id: BEN, role: "operator" });
  return holdfast;
}
