import { describe, expect, it } from "vitest";
import { type Abilities, type Ability, createAbilities } from "../contracts/abilities/ability.ts";
import { dispatch } from "../contracts/abilities/dispatcher.ts";
import { createAbilityExecutor } from "../contracts/abilities/executor.ts";
import { createHooks } from "../contracts/hooks.ts";
import { operationError } from "../contracts/operation-error.ts";
import * as toolCall from "../contracts/tools/call.ts";
import type { ToolDeclaration } from "../contracts/tools/declaration.ts";
import { call, metaAbilities, search } from "./ability-meta.ts";

const refund: Ability = {
  name: "shop/refund",
  label: "Refund",
  description: "  Pays an order\n back. ",
  category: "shop",
  inputSchema: { required: ["order", " ", "order"], properties: { order: {}, pin: { secret: true } } },
  execute: () => ({ refunded: true }),
};
const find: Ability = { name: "shop/find", label: "Find an order", category: "shop", execute: () => [] };
const mail: Ability = { name: "mail/send", description: "", label: "Send", category: "mail", execute: () => "sent" };
const abilities = createAbilities([refund, find, mail]);

describe("searching abilities", () => {
  const names = (input: unknown) => search(input, abilities).abilities.map(({ name }) => name);

  it("describes each in a line, with the fields it needs", () => {
    expect(search({ query: "pays" }, abilities)).toEqual({
      query: "pays",
      count: 1,
      abilities: [{ name: "shop/refund", summary: "Pays an order back.", required_fields: ["order"] }],
    });
    expect(search({ query: "mail" }, abilities).abilities).toEqual([
      { name: "mail/send", summary: "Send", required_fields: [] },
    ]);
  });

  it.each([
    ["every word has to occur, wherever it stands", { query: "  ORDER\t+shop " }, ["shop/refund", "shop/find"]],
    ["a word that does not occur rules out the rest", { query: "order +nothing" }, []],
    ["a selection names abilities and ignores the words", { query: "x select:mail/send, y" }, ["mail/send"]],
    ["a selection is exact", { query: "select:shop/find,shop" }, ["shop/find"]],
    [
      "selections add up, in the registry's order",
      { query: "select:mail/send select:shop/find" },
      ["shop/find", "mail/send"],
    ],
    ["a selection of nothing leaves the words to decide", { query: "select: + find" }, ["shop/find"]],
    [
      "a selection of nothing alone is no selection",
      { query: "select:,", category: "shop" },
      ["shop/refund", "shop/find"],
    ],
    ["a lone plus says nothing", { query: "+ find" }, ["shop/find"]],
    ["a category is exact", { category: "sho" }, []],
    ["a category narrows a selection", { query: "select:mail/send,shop/find", category: " shop " }, ["shop/find"]],
    ["a limit cuts the list", { limit: "2" }, ["shop/refund", "shop/find"]],
    ["a limit is at least one", { limit: -3 }, ["shop/refund"]],
    ["nonsense asks for all", "nonsense", ["shop/refund", "shop/find", "mail/send"]],
  ])("%s", (_, input, found) => {
    expect(names(input)).toEqual(found);
  });

  it("finds twenty unless asked for more, and never more than a hundred", () => {
    const many = createAbilities(Array.from({ length: 120 }, (_, index) => ({ ...mail, name: `mail/${index}` })));
    expect(search({}, many).count).toBe(20);
    expect(search({ limit: 1e9 }, many).count).toBe(100);
  });
});

const callIn = (known: Abilities, input: unknown) =>
  call(input, known, (name, parameters) => dispatch(name, parameters, { abilities: known }));

describe("calling an ability by name", () => {
  it("answers with the result beside redacted parameters", async () => {
    expect(await callIn(abilities, { name: " shop/refund ", parameters: { pin: 1, order: 7 } })).toEqual({
      name: "shop/refund",
      parameters: { order: 7, pin: "[redacted]" },
      parameters_redacted: true,
      result: { refunded: true },
    });
  });

  it.each([
    [{ name: " " }, "agents_ability_call_missing_name"],
    [undefined, "agents_ability_call_missing_name"],
    [{ name: "\tagents/ability-call\n" }, "agents_ability_call_recursion"],
    [{ name: "constructor" }, "agents_ability_call_not_found"],
  ])("refuses %j", async (input, code) => {
    const known = createAbilities([refund, ...metaAbilities(abilities)]);
    expect(await callIn(known, input)).toMatchObject({ code });
  });

  it("returns the refusal of the ability, also one that sounds like its own", async () => {
    const gone = { ...find, execute: () => operationError("ability_not_found", "There is no such order.") };
    expect(await callIn(createAbilities([gone]), { name: "shop/find" })).toEqual({
      code: "ability_not_found",
      message: "There is no such order.",
    });
  });
});

describe("the two as abilities", () => {
  const hooks = createHooks();
  const known = createAbilities([refund, { ...mail, permission: (_, { who }) => who === "ana" }]);
  for (const ability of metaAbilities(known)) known.register(ability);
  const host = { abilities: known, hooks };

  it("find each other like any other", async () => {
    expect(await dispatch("agents/ability-search", { category: "agents" }, host)).toMatchObject({
      abilities: [{ name: "agents/ability-search" }, { name: "agents/ability-call", required_fields: ["name"] }],
    });
  });

  it("are no way around a permission", async () => {
    const asked = { name: "mail/send" };
    const code = "ability_invalid_permissions";
    expect(await dispatch("agents/ability-call", asked, host)).toMatchObject({ code });
    expect(await dispatch("agents/ability-call", asked, { ...host, context: { who: "ana" } })).toMatchObject({
      result: "sent",
    });
  });

  it("show nobody what the called ability keeps to itself", async () => {
    const told: unknown[] = [];
    const stop = hooks.on("abilityInvoked", (...event) => told.push(event));
    await dispatch("agents/ability-call", { name: "shop/refund", parameters: { pin: 1 } }, host);
    stop();
    expect(told).toEqual([
      ["agents/ability-call", { name: "shop/refund", parameters: "[redacted]" }],
      ["shop/refund", { pin: "[redacted]" }],
    ]);
  });

  it("hand a request for approval on as it is, so that a run recognises it", async () => {
    const stop = hooks.filter("abilityPreExecuteDecision", (decision, ability) =>
      ability === "shop/refund"
        ? { action_id: "a", kind: "k", summary: "s", preview: null, apply_input: null, created_at: "2026-05-01" }
        : decision,
    );
    const asked = toolCall.normalize({ tool_name: "agents/ability-call", parameters: { name: "shop/refund" } });
    const result = await createAbilityExecutor(host)(asked, {} as ToolDeclaration, {});
    stop();
    expect(result).toMatchObject({
      success: true,
      result: { type: "approval_required", metadata: { ability_name: "shop/refund" } },
    });
  });
});
