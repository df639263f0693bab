// Promise: what nobody planned for reaches whoever runs the server, through whatever door it was asked for.
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { createHooks } from "../src/contracts/hooks.ts";
import { patientClient } from "./mcp/patient-client.ts";
import { serveRuntime } from "./served-runtime.ts";

/** A server where a directory of the host's breaks whenever it is asked about an operation. */
async function open() {
  const told: unknown[] = [];
  const broken = new Error("The directory is gone.");
  const abilityHooks = createHooks();
  abilityHooks.filter("abilityPreExecuteDecision", () => {
    throw broken;
  });
  const served = await serveRuntime({}, { abilityHooks, onError: (error) => told.push(error) });
  onTestFinished(() => served.close());
  return { served, told, broken };
}

const words = { role: "user", parts: [{ type: "text", text: "Hello" }] };
const send = (method: string) => ({ jsonrpc: "2.0", id: 1, method, params: { message: words } });

it.each([
  ["REST", "/threads", undefined],
  ["JSON-RPC", "/agents-api/v1/agent/helper", send("message/send")],
  ["JSON-RPC that streams", "/agents-api/v1/agent/helper", send("message/stream")],
  ["a front end", "/agents-api/v1/chat", { agent: "helper", message: "Hello" }],
  ["OpenAI", "/v1/chat/completions", { model: "helper", messages: [{ role: "user", content: "Hello" }] }],
])("over %s", async (_, path, json) => {
  const { served, told, broken } = await open();
  const { text } = await served.ask(served.alice, path, json === undefined ? {} : { json });
  expect(text).not.toContain("The directory is gone.");
  expect(told).toEqual([expect.objectContaining({ cause: broken })]);
  expect(String(told[0])).toMatch(/The ability "[a-z/-]+" failed: The directory is gone\./);
});

it("over MCP", async () => {
  const { served, told, broken } = await open();
  const client = patientClient();
  const requestInit = { headers: { Authorization: `Bearer ${served.alice}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  const answered = await client.callTool({ name: "holdfast_list_threads", arguments: {} });
  expect(JSON.stringify(answered)).not.toContain("The directory is gone.");
  expect(told).toEqual([expect.objectContaining({ cause: broken })]);
});

it("and what was planned for does not", async () => {
  const told: unknown[] = [];
  const served = await serveRuntime({}, { onError: (error) => told.push(error) });
  onTestFinished(() => served.close());
  expect(await served.ask(served.alice, "/threads/none")).toMatchObject({ code: "thread_not_found" });
  expect(told).toEqual([]);
});
