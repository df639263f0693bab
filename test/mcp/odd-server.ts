// An MCP server that does not keep to the protocol, written by hand over its pipes: it prints what is no message, answers
// with what is no result, and says more at once than anybody reads.
import { createInterface } from "node:readline";

type Asked = { readonly id?: number; readonly method: string; readonly params?: { readonly name?: string } };

const names = ["shapeless", "chatty", "endless"];

function answer({ method, params }: Asked): unknown {
  switch (method) {
    case "initialize": {
      const capabilities = { tools: {} };
      return { protocolVersion: "2025-06-18", capabilities, serverInfo: { name: "odd", version: "1" } };
    }
    case "tools/list":
      return { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) };
    default:
      return called(params?.name);
  }
}

function called(name: string | undefined): unknown {
  if (name === "shapeless") return { content: "not a list" };
  if (name === "endless") return { content: [{ type: "text", text: "x".repeat(11 * 1024 * 1024) }] };
  console.log("This is no message.");
  console.log('{"neither":"is this"}');
  return { content: [{ type: "text", text: "still here" }] };
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line) as Asked;
  if (asked.id === undefined) continue;
  const isKnown = ["initialize", "tools/list", "tools/call"].includes(asked.method);
  const said = isKnown ? { result: answer(asked) } : { error: { code: -32601, message: "Method not found" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id: asked.id, ...said }));
}
