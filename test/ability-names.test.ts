// Promise: the operations are those that the references name, under their names, each whole and described, and nothing that
// decides for people is offered to a model.
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { beforeEach, describe, expect, it } from "vitest";
import type { Operation } from "../src/abilities/operation.ts";
import { deskWorld } from "./desk-world.ts";

/** By subject, as the references name them. */
const canonical = {
  access: ["can-access-agent", "list-accessible-agents"],
  sessions: [
    ...["list-conversation-sessions", "get-conversation-session", "create-conversation-session"],
    ...["update-conversation-session-title", "delete-conversation-session"],
  ],
  "pending actions": [
    ...["list-pending-actions", "summary-pending-actions", "get-pending-action", "resolve-pending-action"],
  ],
  "runtime tools": [
    ...["list-runtime-tool-requests", "get-runtime-tool-request", "submit-runtime-tool-result"],
    ...["timeout-runtime-tool-request", "cancel-runtime-tool-request"],
  ],
  chat: ["chat", "get-chat-run", "list-chat-run-events", "cancel-chat-run", "queue-chat-message", "dispatch-message"],
};

/** These come with their own subjects; until then nobody is offered what nobody does. */
const withTheirSubjects = {
  tasks: ["run-task", "get-task-run", "cancel-task-run", "list-execution-targets"],
  workflows: [
    ...["run-workflow", "validate-workflow", "describe-workflow", "get-workflow-run", "cancel-workflow-run"],
    ...["list-workflow-run-events", "reconcile-workflow-branch"],
  ],
  "package runs": [
    ...["run-runtime-package", "get-runtime-package-run", "cancel-runtime-package-run"],
    "list-runtime-package-run-events",
  ],
  "safe workspace": ["workspace-prepare", "workspace-list", "workspace-read-file", "workspace-write-file"],
};

const named = (names: readonly string[]) => names.map((name) => `agents/${name}`);

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

  it.each(Object.entries(canonical))("has every canonical operation on %s", (_subject, expected) => {
    expect(named(expected).filter((name) => !names.includes(name))).toEqual([]);
  });

  it.each(Object.entries(withTheirSubjects))("has no operation on %s yet", (_subject, expected) => {
    expect(named(expected).filter((name) => names.includes(name))).toEqual([]);
  });

  it("has no name twice, none outside its two families, and none in the references' that they do not know", () => {
    const known = named([...Object.values(canonical), ...Object.values(withTheirSubjects)].flat());
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.filter((name) => !/^(agents|holdfast)\/[a-z]+(-[a-z]+)*$/.test(name))).toEqual([]);
    expect(names.filter((name) => name.startsWith("agents/") && !known.includes(name))).toEqual([]);
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
