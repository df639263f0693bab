// What a declaration decides about a call: which parameters the tool gets, and what others may see of them.
import { runConversation, type ToolCall } from "holdfast";
import { callsTool, says, scriptedModel } from "holdfast/testing";

const transfer = {
  name: "bank/transfer",
  source: "bank",
  description: "Transfers money to an account.",
  parameters: {
    type: "object",
    required: ["euros", "iban"],
    properties: { euros: { type: "number" }, iban: { type: "string", sensitive: true }, note: { type: "string" } },
  },
  parameter_defaults: { note: "Thank you" },
  parameter_bindings: { customer: { source: "context", path: "customer.id", authoritative: true } },
};

const result = await runConversation(
  [{ role: "user", content: "Send 5 euros to Ana." }],
  scriptedModel([
    callsTool("bank/transfer", { euros: 5, iban: "PT50 0002", customer: "somebody else" }),
    callsTool("bank/transfer", { euros: 5 }),
    callsTool("bank/transfers"),
    says("Done."),
  ]),
  {
    maxTurns: 4,
    context: { customer: { id: "customer-42" } },
    toolDeclarations: [transfer],
    toolExecutor({ parameters }: ToolCall) {
      console.log("The tool gets:      ", JSON.stringify(parameters));
      return { transferred: parameters.euros };
    },
  },
);

for (const { type, payload, content } of result.messages) {
  if (type === "tool_call") console.log("The transcript has: ", JSON.stringify(payload.parameters));
  if (type === "tool_result") console.log("The model is told:  ", content);
}
