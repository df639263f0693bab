// Operations with a name, used as tools: one permission, one gate, one set of observers, whoever calls.
import { type Ability, createAbilities, createHooks, dispatchAbility, runConversation } from "holdfast";
import { callsTool, says, scriptedModel } from "holdfast/testing";

const refund: Ability = {
  name: "shop/refund",
  description: "Refunds an order.",
  inputSchema: { type: "object", properties: { order: { type: "integer" }, iban: { sensitive: true } } },
  annotations: { destructive: true },
  execute: ({ order }) => ({ refunded: order ?? null }),
};
const abilities = createAbilities([refund]);

const hooks = createHooks();
hooks.on("abilityExecuted", (name, input) => console.log(`observer: ${name} ${JSON.stringify(input)}`));
hooks.on("toolCapabilityDenied", ({ required_capability }) => console.log(`observer: denied, ${required_capability}`));

// The host calls it by name …
console.log(await dispatchAbility("shop/refund", { order: 7, iban: "PT50 0002" }, { abilities, hooks }));

// … and so does a model, when a tool is declared for it. The tool asks for a capability that user 5 holds.
const tool = { name: "desk/refund", source: "abilities", description: "Refunds an order.", ability: "shop/refund" };
for (const user of [5, 6]) {
  const result = await runConversation(
    [{ role: "user", content: "Refund order 8 to PT50 0002." }],
    scriptedModel([callsTool("desk/refund", { order: 8, iban: "PT50 0002" }), says("I have tried.")]),
    {
      maxTurns: 2,
      abilities,
      hooks,
      toolDeclarations: [{ ...tool, required_capability: "refund_orders" }],
      principal: { acting_user_id: user, effective_agent_id: "desk", auth_source: "user", request_context: "chat" },
      holdsCapability: (holder, capability) => holder === 5 && capability === "refund_orders",
    },
  );
  for (const { type, content } of result.messages) if (type === "tool_result") console.log(`user ${user}: ${content}`);
}
