// Promise: the operations are those that the references name, under their names, each whole and described, and nothing that
// decides for people is offered to a model.
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { beforeEach, describe, expect, it } from "vitest";
import type { Operation } from "../src/abilities/operation.ts";
import { deskWorld } from "./desk-world.ts";
import references from "./references/canonical.json" with { type: "json" };

/** These come with their own subjects; until then nobody is offered what nobody does. */
const later = /\((tasks|package runs|safe workspace)\)$/;

const canonical = Object.entries(references.abilities);

/** What people are asked for, what opens doors for others, and what is gone for somebody else. */
const deciding = [
  ...["agents/resolve-pending-action", "agents/submit-runtime-tool-result", "agents/timeout-runtime-tool-request"],
  ...["agents/cancel-runtime-tool-request", "holdfast/submit-request", "holdfast/decide-approval"],
  ...["holdfast/forget-remembered-approval", "holdfast/submit-variables", "holdfast/create-token"],
  ...["holdfast/revoke-token", "holdfast/grant-access", "holdfast/revoke-access", "holdfast/forget-memories"],
];

describe("the one list of operations", () => {
  let operations: readonly Operation[];
  let names: readonly string[];

  beforeEach(async () => {
    const { holdfast } = await deskWorld({ agents: [], runs: false });
    operations = holdfast.abilities.list();
    names = operations.map(({ name }) => name);
  });

  it("has exactly the names of the references, but for what comes with tasks, packages and workspaces", () => {
    const expected = canonical.flatMap(([subject, listed]) => (later.test(subject) ? [] : listed));
    expect(names.filter((name) => name.startsWith("agents/")).toSorted()).toEqual(expected.toSorted());
    expect(canonical.filter(([subject]) => later.test(subject))).toHaveLength(3);
  });

  it("has no name twice, and none outside its two families", () => {
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.filter((name) => !/^(agents|holdfast)\/[a-z]+(-[a-z]+)*$/.test(name))).toEqual([]);
  });

  it("describes each of them, with schemas that can be compiled", () => {
    const validator = new AjvJsonSchemaValidator();
    for (const { name, title, description = "", doors, inputSchema, outputSchema } of operations) {
      expect.soft(title, name).toMatch(/^[A-Z].*[^.]$/);
      expect.soft(description, name).toMatch(/^[A-Z].*\.$/s);
      expect.soft(doors.length, name).toBeGreaterThan(0);
      for (const schema of [inputSchema, outputSchema]) {
        expect.soft(() => validator.getValidator({ ...schema }), name).not.toThrow();
      }
      expect.soft(inputSchema?.type, name).toBe("object");
    }
  });

  it("has one operation on each route, and every name in a path is a field of the input", () => {
    const routes = operations.flatMap(({ route }) => (route ? [`${route.method} ${route.path}`] : []));
    expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([]);
    for (const { name, route, inputSchema } of operations) {
      const fields = Object.keys((inputSchema?.properties ?? {}) as object);
      const inPath = [...(route?.path.matchAll(/\{(\w+)\}/g) ?? [])].map(([, field]) => field);
      expect.soft(fields, name).toEqual(expect.arrayContaining(inPath));
    }
  });

  it("leaves to people what people decide", () => {
    expect(names).toEqual(expect.arrayContaining(deciding));
    const offered = (name: string) => operations.find((each) => each.name === name)?.doors ?? [];
    expect(deciding.filter((name) => offered(name).some((door) => door === "mcp" || door === "model"))).toEqual([]);
    const manages = operations.filter(({ capability }) => ["tokens.manage", "approvals.decide"].includes(capability));
    expect(manages.map(({ doors }) => doors)).toEqual(manages.map(() => ["http", "cli"]));
  });
});
