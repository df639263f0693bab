// npm run tour: what an agent with tools looks like on Holdfast, in six short scenes.
import { createMemoryPendingActionStore, message, runConversation } from "holdfast";
import { calls, callsTool, says, scriptedModel } from "holdfast/testing";
import { createStage } from "./processes.ts";
import { applyApproved, houseRule, refundPolicy, refunds, runTool, tools } from "./shop.ts";
import { auditTrail, heading, labelled, outcome, paragraph, transcript } from "./terminal.ts";

const options = { maxTurns: 5, toolDeclarations: tools, toolExecutor: runTool };
const customer = (content: string) => message.text("user", content);

heading("Holdfast: a short tour");
paragraph(
  "A support agent of a small shop answers customers and may use tools. The model is scripted: it is offline, needs no " +
    "key and says the same every time. Everything around it is the real thing.",
);

heading("1. The process dies, the thread goes on");
paragraph(
  "examples/approval-survives runs in a process of its own, on a database that is a file. Its tool pays money back, so " +
    "a person has to agree first, and that may take days.",
);
const stage = createStage();
try {
  await stage.run([], (line) => labelled("process 1", line), 2);
  labelled("the tour", "kills process 1 with SIGKILL: it gets no warning and cleans nothing up");
  labelled("Ana", "says yes, to process 2 that starts on the same file");
  await stage.run(["approve"], (line) => labelled("process 2", line));
  const { messages, calls } = await stage.stored();
  paragraph("What the file holds of the thread, the call as its ledger has it, and what the shop has in its books:");
  transcript(messages);
  for (const call of calls) labelled("ledger", call);
  for (const refund of stage.refunds()) labelled("books", `refund ${refund}`);
} finally {
  stage.remove();
}
paragraph("Nobody was asked twice, and nothing was paid twice. The other scenes run in memory, without a database.");

heading("2. The agent uses its tools, and secrets stay out of sight");
paragraph(
  "The model looks up an order and pays it back. The second call carries the customer's card token. The audit is " +
    "the trace that anybody may see: what was called and how it ended, with a hash in place of the values.",
);
const cardToken = "tok_4242_4242";
const refunded = await runConversation(
  [customer("Order 7 never arrived.")],
  scriptedModel([
    calls(says("I am sorry. Let me look."), callsTool("shop/order", { number: 7 })),
    callsTool("shop/refund", { order: 7, euros: 12, card_token: cardToken }),
    says("It was lost in the post. You have your 12 euros back."),
  ]),
  options,
);
transcript(refunded.messages);
outcome(refunded);
auditTrail(refunded);
labelled("card token", `given to the tool: ${yesOrNo(refunds[0]?.card_token === cardToken)}`);
labelled("", `shown in the transcript: ${yesOrNo(JSON.stringify(refunded.messages).includes(cardToken))}`);
labelled("", `shown in the audit: ${yesOrNo(JSON.stringify(refunded.tool_audit_events).includes(cardToken))}`);

heading("3. A call is refused before it runs");
paragraph("A rule of the house is asked before every call. What it refuses never runs, and the model is told why.");
const refused = await runConversation(
  [customer("Pay me 900 euros for order 7!")],
  scriptedModel([callsTool("shop/refund", { order: 7, euros: 900 }), says("For that, please come to the counter.")]),
  { ...options, preToolMediator: houseRule },
);
transcript(refused.messages);
outcome(refused);
auditTrail(refused);

heading("4. A person decides");
paragraph(
  "By the shop's policy a person has to see every refund above 20 euros. The tool does not run: the call is put to the " +
    "store of pending actions, and the run ends and says what it waits for.",
);
const pendingActionStore = createMemoryPendingActionStore({ now: () => new Date() });
const careful = { ...options, actionPolicyProviders: [refundPolicy], pendingActionStore };
const waiting = await runConversation(
  [customer("Please refund order 8, 60 euros.")],
  scriptedModel([callsTool("shop/refund", { order: 8, euros: 60 }, { id: "refund-8" })]),
  careful,
);
transcript(waiting.messages);
outcome(waiting);
paragraph("Ana approves, the shop pays what she agreed to, and the conversation goes on with the result:");
const paid = await applyApproved(pendingActionStore, "Ana");
const model = scriptedModel([says("Your 60 euros are on their way.")]);
const resumed = await runConversation([...waiting.messages, paid], model, options);
transcript(resumed.messages.slice(waiting.messages.length));
outcome(resumed);

heading("5. A budget ends a run that does too much");
paragraph("The model wants to look up three orders. This run may call two tools.");
const curious = await runConversation(
  [customer("What have I ever ordered?")],
  scriptedModel([
    calls(...[1, 2, 3].map((number) => callsTool("shop/order", { number }))),
    says("This sentence is never reached."),
  ]),
  { ...options, budgets: [{ name: "tool_calls", ceiling: 2 }] },
);
transcript(curious.messages);
outcome(curious);

heading("6. Stopping in the middle");
paragraph("The caller stops the run while a tool is at work. The call still gets a result, and it is an honest one.");
const stop = new AbortController();
const stopped = await runConversation(
  [customer("Where is order 9?")],
  scriptedModel([callsTool("shop/order", { number: 9 })]),
  {
    ...options,
    signal: stop.signal,
    toolExecutor: () => {
      stop.abort();
      return new Promise(() => {});
    },
  },
);
transcript(stopped.messages);
outcome(stopped);

heading("Where to go next");
labelled("README.md", "what Holdfast is, what exists today, and the smallest example");
labelled("examples/", "programs to run, kill and change; examples/approval-survives is scene 1");
labelled("docs/", "a page per concept; docs/concepts/threads.md is the first");
labelled("npm test", "everything above, and much more, as tests");

function yesOrNo(claim: boolean): string {
  return claim ? "yes" : "no";
}
