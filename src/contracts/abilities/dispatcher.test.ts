import { describe, expect, it } from "vitest";
import { holdfastError } from "../error.ts";
import { createHooks } from "../hooks.ts";
import { operationError } from "../operation-error.ts";
import { type Abilities, type Ability, createAbilities } from "./ability.ts";
import { dispatch, redactedParameters } from "./dispatcher.ts";

/** A refund, with whatever a test wants to be different about it. */
function refundWith(different: Partial<Ability> = {}): Abilities {
  return createAbilities([{ name: "shop/refund", execute: () => ({ refunded: true }), ...different }]);
}

const refused = (code: string) => expect.objectContaining({ code });

describe("dispatching an ability", () => {
  it("hands over a frozen copy of the input, and the context", async () => {
    const given = { order: { id: 7 } };
    const execute: Ability["execute"] = (input, context) => ({ input, context, frozen: Object.isFrozen(input.order) });
    expect(await dispatch(" shop/refund ", given, { abilities: refundWith({ execute }), context: { who: 1 } })).toEqual(
      {
        input: given,
        context: { who: 1 },
        frozen: true,
      },
    );
  });

  it("refuses what it cannot find", async () => {
    const abilities = refundWith();
    expect(await dispatch("\t ", {}, { abilities })).toEqual(refused("ability_name_missing"));
    expect(await dispatch(7, {}, { abilities })).toEqual(refused("ability_name_missing"));
    expect(await dispatch("shop/refund", {}, {})).toEqual(refused("abilities_api_missing"));
    expect(await dispatch("__proto__", {}, { abilities })).toEqual(refused("ability_not_found"));
  });

  it("asks for permission, then tells, asks the gate, executes and tells again", async () => {
    const order: string[] = [];
    const hooks = createHooks();
    hooks.on("abilityInvoked", () => order.push("invoked"));
    hooks.filter("preExecuteAbility", () => void order.push("gate"));
    hooks.on("abilityExecuted", () => order.push("executed"));
    const abilities = refundWith({
      permission: async () => order.push("permission") > 0,
      execute: async () => order.push("execute"),
    });
    await dispatch("shop/refund", {}, { abilities, hooks });
    expect(order).toEqual(["permission", "invoked", "gate", "execute", "executed"]);
  });

  it.each([
    ["false", () => false, "ability_invalid_permissions"],
    ["nothing", () => undefined, "ability_invalid_permissions"],
    ["something like a yes", () => "yes", "ability_invalid_permissions"],
    ["an error of its own", async () => operationError("shop_closed", "Come back tomorrow."), "shop_closed"],
    ["an exception", () => Promise.reject(new Error("no database")), "ability_exception"],
  ])("does not run, and tells nobody, when the permission answers with %s", async (_, permission, code) => {
    const hooks = createHooks();
    const seen: unknown[] = [];
    hooks.on("abilityInvoked", (ability) => seen.push(ability));
    const abilities = refundWith({ permission, execute: () => seen.push("executed") });
    expect(await dispatch("shop/refund", {}, { abilities, hooks })).toEqual(refused(code));
    expect(seen).toEqual([]);
  });

  it("makes a refusal of what an ability throws, and never shows a stack", async () => {
    const thrown = { plain: new Error("shelf empty"), coded: holdfastError("not_json", "no JSON"), word: "shelf" };
    const outcomes = Object.values(thrown).map((error) => {
      const execute = () => Promise.reject(error);
      return dispatch("shop/refund", {}, { abilities: refundWith({ execute }) });
    });
    expect(await Promise.all(outcomes)).toEqual([
      { code: "ability_exception", message: "shelf empty" },
      { code: "not_json", message: "no JSON" },
      { code: "ability_exception", message: "shelf" },
    ]);
  });

  it("refuses an input that contains itself", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    expect(await dispatch("shop/refund", cyclic, { abilities: refundWith() })).toEqual(refused("not_json"));
  });

  it("does not run when a hook at the gate fails", async () => {
    const hooks = createHooks();
    let runs = 0;
    hooks.filter("abilityPreExecuteDecision", () => Promise.reject(new Error("policy server is down")));
    const abilities = refundWith({ execute: () => ++runs });
    const message = "policy server is down";
    expect(await dispatch("shop/refund", {}, { abilities, hooks })).toEqual({ code: "ability_exception", message });
    expect(runs).toBe(0);
  });
});

describe("observers of an ability", () => {
  it("see the input redacted, and the result as a copy they cannot change", async () => {
    const hooks = createHooks();
    const told: unknown[] = [];
    const inputSchema = { properties: { iban: { sensitive: true } } };
    const result = { refunded: { cents: 100 } };
    hooks.on("abilityInvoked", (...event) => told.push(event));
    hooks.on("abilityExecuted", (...event) => told.push(event));
    hooks.on("abilityExecuted", (_ability, _input, seen) => {
      (seen as typeof result).refunded.cents = 0;
    });
    const abilities = refundWith({ inputSchema, execute: () => result });
    const returned = await dispatch("shop/refund", { iban: "PT50", order: 7 }, { abilities, hooks });
    const shown = { iban: "[redacted]", order: 7 };
    expect(told).toEqual([
      ["shop/refund", shown],
      ["shop/refund", shown, result],
    ]);
    expect(returned).toBe(result);
    expect(result.refunded.cents).toBe(100);
  });

  it("are told what became of an ability that failed, and of a result that is no JSON", async () => {
    const hooks = createHooks();
    const told: unknown[] = [];
    hooks.on("abilityExecuted", (_ability, _input, result) => told.push(result));
    const failing = refundWith({ execute: () => Promise.reject(new Error("shelf empty")) });
    const odd = refundWith({ execute: () => 1n });
    await dispatch("shop/refund", {}, { abilities: failing, hooks });
    expect(await dispatch("shop/refund", {}, { abilities: odd, hooks })).toBe(1n);
    expect(told).toEqual([{ code: "ability_exception", message: "shelf empty" }, null]);
  });
});

it("shows by their names alone the parameters of an ability nobody knows", () => {
  const parameters = { token: "t", pin: "1", nested: [{ password: "p" }] };
  const shown = { nested: [{ password: "[redacted]" }], pin: "1", token: "[redacted]" };
  expect(redactedParameters("shop/refund", parameters, undefined)).toEqual(shown);
  expect(redactedParameters("shop/unknown", parameters, refundWith())).toEqual(shown);
  expect(redactedParameters(null, "nonsense", refundWith())).toEqual({});
});

it("hides what the meta of an ability names, also by its own path", () => {
  const abilities = refundWith({ meta: { sensitive_parameters: ["to.iban"], parameter_sensitivity: { pin: true } } });
  expect(redactedParameters(" shop/refund ", { to: { iban: "PT50", name: "Ana" }, pin: 1 }, abilities)).toEqual({
    pin: "[redacted]",
    to: { iban: "[redacted]", name: "Ana" },
  });
});
