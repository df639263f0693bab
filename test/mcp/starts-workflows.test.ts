// Promise: an MCP client finds the workflows that there are, starts one and gets what it came to; it decides nothing.
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { serveRuntime } from "../served-runtime.ts";
import { patientClient } from "./patient-client.ts";

it("lists workflows, starts one and waits for it", async () => {
  const served = await serveRuntime(
    {},
    {
      workflows: [{ id: "greet", steps: [{ id: "greet", type: "function", function: "greet" }] }],
      stepFunctions: { greet: () => ({ text: "Hello." }) },
    },
  );
  onTestFinished(() => served.close());
  const client = patientClient();
  const requestInit = { headers: { Authorization: `Bearer ${served.owner}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  const call = async (name: string, input: object) => {
    const { structuredContent } = await client.callTool({ name: `holdfast_${name}`, arguments: { ...input } });
    return structuredContent as Record<string, unknown>;
  };

  const names = (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.includes("workflow"));
  expect(names).toEqual(expect.arrayContaining(["holdfast_list_workflows", "holdfast_start_workflow"]));
  expect(
    names.filter((name) => /cancel|delete|retry|rerun|send|pause|resume|reconcile|run_workflow$/.test(name)),
  ).toEqual([]);
  expect(await call("list_workflows", {})).toMatchObject({ workflows: [{ workflow_id: "greet" }] });
  const { run_id } = await call("start_workflow", { workflow_id: "greet" });
  expect(await call("await_workflow_run", { run_id })).toMatchObject({
    status: "succeeded",
    result: { outputs: { last: { text: "Hello." } } },
  });
});
