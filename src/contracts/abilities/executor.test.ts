import { describe, expect, it } from "vitest";
import { createHooks } from "../hooks.ts";
import type { JsonMap } from "../json.ts";
import { operationError } from "../operation-error.ts";
import * as toolCall from "../tools/call.ts";
import type { Authorize } from "../tools/capability-guard.ts";
import type { ToolDeclaration } from "../tools/declaration.ts";
import { settle } from "../tools/execution.ts";
import { safeMetadata } from "../trust/safe-principal.ts";
import { type Abilities, type Ability, createAbilities } from "./ability.ts";
import { abilityNameOf, createAbilityExecutor, namesAbility } from "./executor.ts";

const refund: Ability = {
  name: "shop/refund",
  inputSchema: { properties: { iban: { sensitive: true } } },
  execute: ({ order }) => ({ refunded: order ?? null }),
};
const closed: Ability = { name: "shop/closed", execute: () => operationError("shop_closed", " ") };
const abilities = createAbilities([refund, closed]);

const call = toolCall.normalize({ tool_name: "tools/refund", parameters: { order: 7, iban: "PT50" } });
const declared = (fields: JsonMap) => ({ ability: "shop/refund", ...fields }) as unknown as ToolDeclaration;
const principal = {
  acting_user_id: 7,
  effective_agent_id: "support",
  auth_source: "agent_token",
  request_context: "chat",
  token_id: 9,
  owner_key: "opaque",
  capability_ceiling: { user_id: 7, allowed_capabilities: ["refund_orders"] },
};

describe("a tool that is an ability", () => {
  it("answers with what the ability returned, and shows redacted parameters", async () => {
    const returned = await createAbilityExecutor({ abilities })(call, declared({}), {});
    expect(settle(call, declared({}), { returned })).toEqual({
      success: true,
      tool_name: "tools/refund",
      metadata: {
        ability_name: "shop/refund",
        parameters: { iban: "[redacted]", order: 7 },
        parameters_redacted: true,
      },
      result: { refunded: 7 },
    });
  });

  it.each([
    ["shop/closed", abilities, "shop_closed", "ability_error"],
    ["shop/unknown", abilities, "ability_not_found", "ability_not_found"],
    ["shop/refund", undefined, "abilities_api_missing", "abilities_api_unavailable"],
  ])("says why %s could not be used", async (ability, known: Abilities | undefined, error_code, error_type) => {
    const result = await createAbilityExecutor({ abilities: known })(call, declared({ ability }), {});
    expect(result).toMatchObject({ success: false, metadata: { ability_name: ability, error_code, error_type } });
    expect(result).toHaveProperty("error", expect.stringMatching(/\w/));
  });

  it("needs a name from somewhere", async () => {
    const nameless = toolCall.normalize({ tool_name: " " });
    expect(await createAbilityExecutor({ abilities })(nameless, declared({ ability: "" }), {})).toMatchObject({
      success: false,
      metadata: { ability_name: "", error_type: "ability_name_missing" },
    });
  });

  it("waits for approval when a hook asks for it", async () => {
    const hooks = createHooks();
    hooks.filter("abilityPreExecuteDecision", (_, ability, input) => ({
      action_id: "refund-7",
      kind: ability,
      summary: `Refund order ${input.order}`,
      preview: { order: input.order },
      apply_input: input,
      created_at: "2026-05-01T00:00:00Z",
    }));
    const result = await createAbilityExecutor({ abilities, hooks })(call, declared({}), {});
    expect(result).toMatchObject({
      success: true,
      result: { type: "approval_required", content: "Refund order 7", payload: { action_id: "refund-7" } },
    });
  });
});

describe("the capability that a declaration requires", () => {
  const guarded = declared({ required_capability: " refund_orders " });
  const holds = (user: number, capability: string) => user === 7 && capability === "refund_orders";

  it("lets those through who hold it, and those whom the host authorizes itself", async () => {
    for (const host of [{ holdsCapability: holds }, { authorize: () => true }]) {
      const result = await createAbilityExecutor({ abilities, ...host })(call, guarded, { principal });
      expect(result).toMatchObject({ success: true });
    }
  });

  it("is narrowed by the ceiling of the context", async () => {
    const context = { principal, capability_ceiling: { user_id: 7, allowed_capabilities: ["read_orders"] } };
    const result = await createAbilityExecutor({ abilities, holdsCapability: holds })(call, guarded, context);
    expect(result).toMatchObject({ success: false, metadata: { error_type: "capability_denied" } });
  });

  it.each<[string, Authorize | undefined]>([
    ["nobody decides", undefined],
    ["the answer is no", () => false],
    ["the answer is something like a yes", () => 1 as unknown as boolean],
    ["deciding fails", () => Promise.reject(new Error("no database"))],
  ])("is denied when %s, and shows of the principal only what is safe", async (_, authorize) => {
    const hooks = createHooks();
    const told: JsonMap[] = [];
    hooks.on("toolCapabilityDenied", (denial) => told.push(denial));
    const result = await createAbilityExecutor({ abilities, hooks, authorize })(call, guarded, { principal });
    const safe = safeMetadata(principal);
    const reason = "capability_not_permitted";
    expect(result).toHaveProperty("metadata.denial", {
      allowed: false,
      operation: "tool_execution",
      reason,
      principal: safe,
    });
    expect(told).toEqual([
      {
        schema_version: 1,
        operation: "tool_execution",
        tool_name: "tools/refund",
        ability_name: "shop/refund",
        required_capability: "refund_orders",
        reason,
        principal: safe,
        parameters: { iban: "[redacted]", order: 7 },
        parameters_redacted: true,
      },
    ]);
  });

  it.each([undefined, null, [], {}, "root"])("is denied to the principal %j, without asking", async (nobody) => {
    const authorize = () => true;
    const context = { principal: nobody } as JsonMap;
    expect(await createAbilityExecutor({ abilities, authorize })(call, guarded, context)).toHaveProperty(
      "metadata.denial",
      expect.objectContaining({ reason: "principal_unavailable", principal: null }),
    );
  });
});

it("takes the ability's name from the declaration, then the call's metadata, then the call", () => {
  const named = toolCall.normalize({ tool_name: "tools/refund", metadata: { ability_name: " shop/other " } });
  expect(abilityNameOf(named, { ability: " shop/refund ", ability_name: "shop/old" })).toBe("shop/refund");
  expect(abilityNameOf(named, { ability: 7, ability_name: "shop/old" })).toBe("shop/old");
  expect(abilityNameOf(named, {})).toBe("shop/other");
  expect(abilityNameOf(call, {})).toBe("tools/refund");
});

it("knows whether a declaration names an ability, which a client cannot do", () => {
  const declarations = [{ ability: "shop/refund" }, { ability_name: "shop/refund" }, { ability: " " }, {}];
  expect(declarations.map(namesAbility)).toEqual([true, true, false, false]);
  expect(namesAbility({ ability: "shop/refund", executor: "client" })).toBe(false);
});
