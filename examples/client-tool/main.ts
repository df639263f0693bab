// A tool that runs somewhere else, such as in the customer's browser: the run ends while it waits, and goes on when
// somebody hands in the result.
import {
  type ConversationResult,
  chatExecutor,
  createMemoryRuntimeToolStore,
  type Message,
  message,
  type RuntimeToolRequest,
  type RuntimeToolResult,
  runConversation,
  submitResult,
} from "holdfast";
import { callsTool, says, scriptedModel } from "holdfast/testing";

const model = scriptedModel([
  callsTool("client/location", { precision: "city" }),
  says("The nearest shop to you is in Lisbon."),
]);
const store = createMemoryRuntimeToolStore();
const options = {
  maxTurns: 3,
  context: { run_id: "run-1" },
  toolDeclarations: [{ name: "client/location", description: "Asks the browser where the customer is." }],
  toolExecutor: chatExecutor(() => ({ error: "This example has no tools of its own." })),
  runtimeToolStore: store,
};

const waiting = await runConversation([{ role: "user", content: "Where is your nearest shop?" }], model, options);
show("The run ends and waits", waiting);

// Later, perhaps in another request: the browser finds the pending request and answers it.
for (const { request_id, tool_name, parameters } of await store.recentPending({ run_id: "run-1" })) {
  console.log(`\nThe browser is asked for ${tool_name} ${JSON.stringify(parameters)}.`);
  const answer = { request_id, result: { city: "Lisbon" } };
  const first = await submitResult(store, answer, goOn);
  show("The run goes on", first.continuation_result as ConversationResult);
  const second = await submitResult(store, answer, goOn);
  console.log(`\nHanding it in again changes nothing: duplicate ${second.duplicate}, status ${second.status}.`);
}

/** Puts the result where the transcript shows that the call is waiting, and lets the model answer. */
function goOn({ tool_name, tool_call_id }: RuntimeToolRequest, result: RuntimeToolResult) {
  const content = JSON.stringify(result.success ? result.result : result.error);
  const brought = message.toolResult({ content, tool_name, payload: result, metadata: { tool_call_id } });
  const messages = waiting.messages.map((each) => (isWaiting(each, tool_call_id) ? brought : each));
  return runConversation(messages, model, options);
}

function isWaiting({ payload, metadata }: Message, callId: string): boolean {
  return payload.status === "runtime_tool_pending" && metadata.tool_call_id === callId;
}

function show(title: string, { messages, run_outcome }: ConversationResult): void {
  console.log(`${title}: ${run_outcome.status}`);
  for (const { type, role, content, payload } of messages) {
    const text = payload.status === "runtime_tool_pending" ? "(pending)" : content || payload.tool_name;
    console.log(`  ${role} ${type}: ${text}`);
  }
}
