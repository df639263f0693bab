// A runtime whose agent uses an MCP server that kills it: the call is begun, and nobody sees what comes of it.
import { callsTool, says, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import { agent } from "../../src/threads/agent.ts";
import { mcpTools } from "../../src/threads/mcp/mcp-tools.ts";
import type { Program } from "../another-process.ts";
import { script } from "./small-script.ts";

export type Given = { readonly ledger: string; readonly idempotent: boolean };

/** The agent, and how to end its server. */
export async function victim({ ledger, idempotent }: Given) {
  const small = await mcpTools({
    ...{ name: "small", command: process.execPath, args: [script], env: { SMALL_LEDGER: ledger } },
    allow: [{ tool: "kill", idempotent }],
  });
  const model = scriptedModel([callsTool("small/kill", {}, { id: "call-1" }), says("Done.")]);
  return { agent: agent({ slug: "victim", model, tools: [...small.tools] }), close: small.close };
}

export const run: Program<Given> = async (open, given) => {
  const { agent: clerk } = await victim(given);
  const holdfast = await open([clerk]);
  const thread = await holdfast.threads.open("mortal", { agent: "victim" });
  await thread.queueMessage("Go on.", { key: "go-on" });
};
