// Listening in and having a say: hooks belong to the host, and none of them can break a run.
import { createHooks, runConversation } from "holdfast";
import { callsTool, says, scriptedModel } from "holdfast/testing";

const hooks = createHooks();
hooks.on("loopEvent", (event, payload) => console.log(`event ${event}: turn ${payload.turn ?? "-"}`));
hooks.on("loopEvent", () => {
  throw new Error("A listener that fails changes nothing.");
});
hooks.filter("toolAuditParameters", (shown) => ("street" in shown ? { ...shown, street: "[redacted]" } : shown));
hooks.filter("preToolCallDecision", (decision, { tool_name }) =>
  tool_name === "shop/delete" ? { action: "reject", error: "Nothing is deleted on Sundays." } : decision,
);

const result = await runConversation(
  [{ role: "user", content: "I moved. Forget my old address." }],
  scriptedModel([
    callsTool("shop/address", { street: "Rua Augusta 1" }),
    callsTool("shop/delete", { address: "old" }),
    says("I have your new address; the old one has to wait until Monday."),
  ]),
  {
    maxTurns: 3,
    hooks,
    toolDeclarations: [
      { name: "shop/address", source: "shop", description: "Sets the address." },
      { name: "shop/delete", source: "shop", description: "Deletes an address." },
    ],
    toolExecutor: () => "saved",
  },
);

for (const { type, content, payload } of result.messages) {
  console.log(type === "tool_call" ? `call: ${JSON.stringify(payload.parameters)}` : `${type}: ${content}`);
}
