// Promise: whatever door a call comes through, the host is asked about it once before it is executed, is told of it once
// afterwards, and a no of the host's is a no at every door.
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { createHooks } from "../src/contracts/hooks.ts";
import { operationError } from "../src/contracts/operation-error.ts";
import * as principals from "../src/contracts/trust/principal.ts";
import { projectedOperations } from "../src/server/routes.ts";
import { typeCommand } from "./doors/type-command.ts";
import { patientClient } from "./mcp/patient-client.ts";
import { serveRuntime } from "./served-runtime.ts";

type Call = (name: string) => Promise<string>;

/** A server, and the ways in which an administrator calls an operation of it; each answers with what it was told. */
async function open() {
  const abilityHooks = createHooks();
  const served = await serveRuntime({}, { abilityHooks });
  onTestFinished(served.close);
  const { holdfast, owner, url } = served;
  const client = patientClient();
  const requestInit = { headers: { Authorization: `Bearer ${owner}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  const administrator = principals.userSession(1, "console");

  const http: Call = async (name) => (await served.ask(owner, `/abilities/${name}`, { json: {} })).text;
  const route: Call = async (name) => {
    const { method = "get", path = "" } = holdfast.abilities.get(name)?.route ?? {};
    const body = method === "get" || method === "delete" ? {} : { json: {} };
    return (await served.ask(owner, path, { method: method.toUpperCase(), ...body })).text;
  };
  const cli: Call = async (name) =>
    JSON.stringify(await holdfast.abilities.call(name, {}, { principal: administrator, door: "cli" }));
  const typed: Call = (name) => typeCommand(url, owner, "abilities", "run", name, "{}", "--json");
  const mcp: Call = async (name) =>
    JSON.stringify(await client.callTool({ name: name.replaceAll(/[^a-z]/g, "_"), arguments: {} }));

  const named = projectedOperations(holdfast);
  const through = (door: "http" | "cli" | "mcp") =>
    named.flatMap(({ name, doors }) => (doors.includes(door) ? [name] : []));
  const routed = named.flatMap(({ name, route: at }) => (at && !at.path.includes("{") ? [name] : []));
  const doors: readonly (readonly [string, Call, readonly string[]])[] = [
    ["HTTP, by name", http, through("http")],
    ["HTTP, by route", route, routed],
    ["the command line's own", cli, through("cli")],
    ["the command line over HTTP", typed, ["holdfast/list-threads", "holdfast/open-thread", "holdfast/delete-thread"]],
    ["MCP", mcp, through("mcp")],
  ];
  return { abilityHooks, doors };
}

it("every call is decided about once and observed once, through every door", async () => {
  const { abilityHooks, doors } = await open();
  let told: string[] = [];
  abilityHooks.filter("abilityPreExecuteDecision", (decision, name) => {
    told.push(`decided ${name}`);
    return decision;
  });
  abilityHooks.on("abilityExecuted", (name) => void told.push(`observed ${name}`));
  for (const [door, call, names] of doors) {
    expect(names.length, door).toBeGreaterThan(2);
    for (const name of names) {
      told = [];
      await call(name);
      expect.soft(told, `${name} through ${door}`).toEqual([`decided ${name}`, `observed ${name}`]);
    }
  }
});

it("what the host refuses is refused through every door, and not executed", async () => {
  const { abilityHooks, doors } = await open();
  const executed: string[] = [];
  abilityHooks.filter("preExecuteAbility", () => operationError("closed_for_today", "The host says no."));
  abilityHooks.on("abilityExecuted", (name) => void executed.push(name));
  for (const [door, call, names] of doors) {
    for (const name of names) expect.soft(await call(name), `${name} through ${door}`).toContain("closed_for_today");
  }
  expect(executed).toEqual([]);
});
