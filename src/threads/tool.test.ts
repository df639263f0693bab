import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { JsonMap } from "../contracts/json.ts";
import { canonicalName } from "../contracts/tools/declaration.ts";
import { prepare } from "../contracts/tools/execution.ts";
import { redact } from "../contracts/tools/exposure.ts";
import type { StandardSchema } from "./schemas/tool-schema.ts";
import { readReconciled, type Tool, type ToolDefinition, tool } from "./tool.ts";

const refund = tool({
  name: "shop/refund",
  description: "Refund an order.",
  inputSchema: z.object({ order: z.string(), cents: z.int().positive() }),
  actionPolicy: "preview",
  execute: ({ order, cents }, { idempotencyKey }) => {
    expectTypeOf(order).toEqualTypeOf<string>();
    expectTypeOf(cents).toEqualTypeOf<number>();
    return `${cents} cents for ${order} under ${idempotencyKey}`;
  },
  reconcile: ({ idempotencyKey, input }) => {
    expectTypeOf(input.order).toEqualTypeOf<string>();
    return idempotencyKey === "seen" ? { status: "done", result: input.cents } : { status: "absent" };
  },
});

function prepared({ name, declaration }: Tool, parameters: JsonMap) {
  return prepare(name, parameters, { [name]: declaration }, {});
}

describe("a tool", () => {
  it("is declared as the contracts have it", () => {
    expect(refund.declaration).toEqual({
      name: "shop/refund",
      source: "shop",
      description: "Refund an order.",
      parameters: {
        type: "object",
        properties: {
          order: { type: "string" },
          cents: { type: "integer", exclusiveMinimum: 0, maximum: Number.MAX_SAFE_INTEGER },
        },
        required: ["order", "cents"],
      },
      executor: "host",
      scope: "run",
      provider_safe_name: "shop__refund",
      action_policy: "preview",
    });
    expect(Object.isFrozen(refund)).toBe(true);
    expect(refund).toMatchObject({ idempotent: false, repeatable: false, retry: { attempts: 1 } });
  });

  it("may have a plain name, by which models call it, and is declared with a namespace", () => {
    const named = (name: string) => tool({ name, description: "x", execute: () => null });
    expect(named("finish").name).toBe("standard/finish");
    expect(named("finish").declaration).toMatchObject({ source: "standard", provider_safe_name: "finish" });
    for (const name of ["finish", "getWeather", "look-up", "ends_"]) {
      const { name: declared, declaration } = named(name);
      expect(canonicalName(name, { [declared]: declaration })).toBe(declared);
    }
  });

  it("says what its code may use and needs", () => {
    const send = tool({
      name: "send",
      description: "Send.",
      uses: ["render"],
      variables: [{ name: "TOKEN", required: true }],
      execute: () => null,
    });
    expect(send).toMatchObject({
      uses: ["render"],
      variables: [{ name: "TOKEN", type: "secret", required: true, scoped: false, description: "" }],
    });
    expect(refund).not.toHaveProperty("uses");
    expect(refund.variables).toEqual([]);
  });

  it("is the client's when nothing here can run it", () => {
    const where = tool({ name: "client/location", description: "Where the user is.", waitMs: 60_000 });
    expect(where.declaration).toMatchObject({ source: "client", executor: "client", scope: "run" });
    expect(where.waitMs).toBe(60_000);
    expect(where).not.toHaveProperty("execute");
  });

  it("checks what it is called with and names each bad path", async () => {
    expect(await refund.validateInput({ order: "7", cents: 5, more: true })).toEqual({
      ok: true,
      value: { order: "7", cents: 5 },
    });
    expect(await refund.validateInput({ cents: -5 })).toMatchObject({
      ok: false,
      problems: [{ path: "order" }, { path: "cents" }],
    });
    const nested = tool({
      name: "shop/buy",
      description: "Buy.",
      inputSchema: z.object({ lines: z.array(z.object({ sku: z.string() })) }),
      execute: () => null,
    });
    expect(await nested.validateInput({ lines: [{ sku: "tea" }, {}] })).toMatchObject({
      problems: [{ path: "lines[1].sku" }],
    });
  });

  it("takes a JSON Schema", async () => {
    const order = tool({
      name: "shop/order",
      description: "Look an order up.",
      inputSchema: { properties: { number: { type: "integer" } }, required: ["number"], additionalProperties: false },
      execute: (input) => {
        expectTypeOf(input).toEqualTypeOf<JsonMap>();
        return input.number ?? null;
      },
    });
    expect(order.declaration.parameters).toMatchObject({ type: "object", required: ["number"] });
    expect(await order.validateInput({ number: 7 })).toEqual({ ok: true, value: { number: 7 } });
    expect(await order.validateInput({ number: "7", other: 1 })).toMatchObject({
      problems: [{ path: "number" }, { path: "other" }],
    });
  });

  it("takes any Standard Schema, with or without a JSON form, synchronous or not", async () => {
    type Even = { even: number };
    const even = (json?: object): StandardSchema<Even> => ({
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async (value) =>
          (value as Even).even % 2 === 0
            ? { value: value as Even }
            : { issues: [{ message: "must be even", path: [{ key: "even" }] }] },
        ...(json && { jsonSchema: { input: () => json } }),
      },
    });
    const execute = ({ even }: Even) => even / 2;
    const half = { name: "math/half", description: "Half of a number.", execute };
    expect(tool({ ...half, inputSchema: even() }).declaration.parameters).toEqual({ type: "object", properties: {} });
    const told = tool({ ...half, inputSchema: even({ type: "object", properties: { even: { type: "number" } } }) });
    expect(told.declaration.parameters).toEqual({ type: "object", properties: { even: { type: "number" } } });
    expect(await told.validateInput({ even: 4 })).toEqual({ ok: true, value: { even: 4 } });
    expect(await told.validateInput({ even: 3 })).toEqual({
      ok: false,
      problems: [{ path: "even", message: "must be even" }],
    });
    expect(await told.validateInput(null)).toMatchObject({ ok: false });
  });

  it("checks what it returns", async () => {
    const count = tool({
      name: "shop/count",
      description: "Count the orders.",
      outputSchema: z.object({ orders: z.int() }),
      execute: () => ({ orders: 3 }),
    });
    expect(await count.validateOutput({ orders: 3 })).toEqual({ ok: true, value: { orders: 3 } });
    expect(await count.validateOutput({ orders: "3" })).toMatchObject({ ok: false, problems: [{ path: "orders" }] });
    expect(await refund.validateOutput(12n)).toEqual({ ok: true, value: 12n });
  });

  it("may leave out a map whose own members are required, and may be given null", () => {
    const ship = tool({
      name: "shop/ship",
      description: "Ship.",
      inputSchema: z.object({
        to: z.object({ street: z.string() }).describe("Elsewhere.").optional(),
        note: z.string().nullable(),
      }),
      execute: () => null,
    });
    expect(prepared(ship, { note: null }).ready).toBe(true);
    expect(ship.declaration.parameters).toMatchObject({
      properties: { to: { description: "Elsewhere.", anyOf: [{ type: "object", required: ["street"] }] } },
    });
    expect(ship.validateInput({})).toMatchObject({ ok: false, problems: [{ path: "note" }] });
    const byName = tool({
      name: "shop/prices",
      description: "Set prices by name.",
      inputSchema: z.record(z.string(), z.object({ cents: z.int() })),
      execute: () => null,
    });
    expect(prepared(byName, { tea: { cents: 5 } }).ready).toBe(true);
  });

  it("hides the parameters that it or its schema calls secret, wherever the schema does so", () => {
    const card = z.string().meta({ sensitive: true });
    const node = z.object({
      word: card,
      get inner() {
        return z.array(node).optional();
      },
    });
    const pay = tool({
      name: "shop/pay",
      description: "Pay.",
      inputSchema: z.object({
        card: card.nullable(),
        spare: z.object({ card }).optional(),
        all: z.array(z.union([z.object({ card }), z.null()])),
        tree: node,
        owner: z.string(),
        shown: z.string(),
      }),
      sensitive: ["owner"],
      execute: () => null,
    });
    const tree = { word: "w", inner: [{ word: "w", inner: [{ word: "w" }] }] };
    const called = { card: "w", spare: { card: "w" }, all: [{ card: "w" }], tree, owner: "w", shown: "s" };
    const shown = JSON.stringify(redact(called, pay.declaration));
    expect(shown).toContain('"shown":"s"');
    expect(shown).not.toContain('"w"');
  });

  it("passes on what the contracts know besides", () => {
    const { declaration } = tool({
      name: "shop/erase",
      description: "Erase.",
      source: "warehouse",
      categories: ["destructive"],
      modes: ["chat"],
      mandatory: true,
      write: true,
      repeatable: true,
      requiredCapability: "erase_orders",
      parameterBindings: { tenant: "context.tenant" },
      parameterDefaults: { soft: true },
      runtime: { executor_target: "warehouse" },
      execute: () => null,
    });
    expect(declaration).toMatchObject({
      source: "warehouse",
      categories: ["destructive"],
      modes: ["chat"],
      mandatory: true,
      write: true,
      repeatable: true,
      required_capability: "erase_orders",
      parameter_bindings: { tenant: { source: "context", path: "tenant" } },
      parameter_defaults: { soft: true },
      runtime: { executor_target: "warehouse" },
    });
  });

  const plain = { name: "shop/refund", description: "Refund.", execute: () => null };
  it.each<[string, object]>([
    ["name", { ...plain, name: " " }],
    ["description", { ...plain, description: "" }],
    ["name", { ...plain, name: "Shop/refund" }],
    ["name", { ...plain, name: "client/refund" }],
    ["execute", { name: "shop/refund", description: "Refund." }],
    ["execute", { ...plain, execute: "refund" }],
    ["reconcile", { name: "client/a", description: "A.", reconcile: () => ({ status: "absent" }) }],
    ["retry", { ...plain, retry: { attempts: 0 } }],
    ["retry", { ...plain, retry: { attempts: 2, backoff: 5 } }],
    ["timeoutMs", { ...plain, timeoutMs: 2 ** 31 }],
    ["waitMs", { ...plain, waitMs: 0.5 }],
    ["idempotent", { ...plain, idempotent: "yes" }],
    ["actionPolicy", { ...plain, actionPolicy: "ask" }],
    ["uses", { ...plain, uses: "render" }],
    ["variables", { ...plain, variables: [{}] }],
    ["variables", { name: "client/a", description: "A.", variables: [{ name: "A" }] }],
    ["name", { ...plain, name: "2nd" }],
    ["actionPolicies", { ...plain, actionPolicies: "preview" }],
    ["sensitive", { ...plain, sensitive: "iban" }],
    ["inputSchema", { ...plain, inputSchema: "object" }],
    ["inputSchema", { ...plain, inputSchema: z.string() }],
    ["inputSchema", { ...plain, inputSchema: { order: { type: "string" } } }],
    ["outputSchema", { ...plain, outputSchema: 5 }],
    ["parameter_bindings", { ...plain, parameterBindings: { a: "nowhere" } }],
  ])("is refused with the field that is wrong: %s", (field, definition) => {
    expect(() => tool(definition as ToolDefinition)).toThrow(
      expect.objectContaining({ code: "invalid_tool", detail: expect.stringMatching(new RegExp(`^${field}\\b`)) }),
    );
  });
});

describe("what reconcile answers", () => {
  it("is one of three statuses, and unknown whenever it is none", () => {
    expect(readReconciled({ status: "done", result: { id: 7 } })).toEqual({ status: "done", result: { id: 7 } });
    expect(readReconciled({ status: "absent" })).toEqual({ status: "absent" });
    const throws = {
      get status() {
        throw new Error("no");
      },
    };
    for (const answer of [
      { status: "unknown" },
      undefined,
      null,
      true,
      "done",
      [],
      { status: "DONE" },
      { id: 7 },
      throws,
    ]) {
      expect(readReconciled(answer)).toEqual({ status: "unknown" });
    }
  });
});
