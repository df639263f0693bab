// A call that a person has to agree to: proposed, decided, done, and the conversation goes on.
import { createMemoryPendingActionStore, type JsonMap, message, runConversation } from "holdfast";
import { callsTool, says, scriptedModel } from "holdfast/testing";

const transfer = {
  name: "bank/transfer",
  source: "bank",
  description: "Transfers money to an account.",
  action_policy: "preview",
  sensitive_parameters: ["iban"],
};
const runTransfer = ({ euros, iban }: JsonMap) => {
  console.log(`bank: ${euros} euros to ${iban}`);
  return { sent: euros ?? null };
};
const pendingActionStore = createMemoryPendingActionStore({ now: () => new Date() });
const options = {
  runId: "rent-in-may",
  toolDeclarations: [transfer],
  toolExecutor: ({ parameters }: { parameters: JsonMap }) => runTransfer(parameters),
  pendingActionStore,
};

const asked = await runConversation(
  [{ role: "user", content: "Pay the rent, 800 euros to PT50 0002." }],
  scriptedModel([callsTool("bank/transfer", { euros: 800, iban: "PT50 0002" }, { id: "rent" })]),
  options,
);
console.log(`run: ${asked.status}`);

// Later, elsewhere: somebody looks at what is waiting, without the account number.
const [action] = await pendingActionStore.list({ status: "pending" });
if (!action) throw new Error("Nothing waits for approval.");
console.log(`to decide: ${action.summary}`);
await pendingActionStore.recordResolution(action.action_id, { decision: "accepted", resolver: "user:7" });

// Whoever applies it does what was agreed to, and hands the conversation its result.
type Proposed = { tool_name: string; tool_call_id: string; parameters: JsonMap };
const { tool_name, tool_call_id, parameters } = action.apply_input as Proposed;
const result = runTransfer(parameters);
const done = message.toolResult({
  content: JSON.stringify(result),
  tool_name,
  payload: { success: true, result },
  metadata: { tool_call_id },
});
const resumed = await runConversation([...asked.messages, done], scriptedModel([says("The rent is paid.")]), {
  ...options,
  runId: "rent-in-may-approved",
});
for (const { type, content } of resumed.messages) console.log(`${type}: ${content}`);
