// A refund that takes four eyes: who may ask for it, who may decide, and a record of both that a stranger can check.
import {
  type Answer,
  agent,
  createHoldfast,
  HoldfastError,
  type Principal,
  principal,
  tool,
  verifyAudit,
} from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { callsTool, says, scriptedModel } from "holdfast/testing";
import { z } from "zod";

const refund = tool({
  name: "shop/refund",
  description: "Refunds an order.",
  inputSchema: z.object({ order: z.int(), cents: z.int().positive() }),
  requiredCapability: "issue_refunds", // of whom the thread acts for, when it runs
  actionPolicy: "preview", // a person decides
  approvers: { capability: "approve_refunds", other_than_requester: true }, // and it is another one
  execute: ({ order, cents }) => `${cents} cents for order ${order}`,
});
const refunds = (cents: number) => callsTool("shop/refund", { order: 7, cents });
const model = scriptedModel([
  refunds(1200),
  says("Half."),
  refunds(600),
  says("No more, then."),
  refunds(500),
  says("Not that either."),
]);

// Ana and Ben work in the shop, and hold the same capabilities.
const ana = principal.userSession(7, "shop");
const ben = principal.userSession(12, "shop");
const held = ["issue_refunds", "approve_refunds"];
const holdfast = await createHoldfast({
  backend: sqlite(":memory:"),
  agents: [agent({ slug: "shop", model, tools: [refund] })],
  trust: { holdsCapability: (user, capability) => [7, 12].includes(user) && held.includes(capability) },
});

console.log("The agent acts for Ana, through a token of hers that may only issue refunds.");
const workspace = { workspace_type: "site", workspace_id: "1" };
const bearer = await throughToken("issue_refunds");
const thread = await holdfast.threads.open("order-7", { agent: "shop", principal: bearer, workspace });
await asks("My parcel has never arrived.");
await decides("the agent", bearer, { decision: "accepted" });
await decides("Ana", ana, { decision: "accepted" });
await decides("Ben", ben, { decision: "accepted", parameters: { cents: 600 } });

console.log("\nA decision can be remembered until it is forgotten, but no yes where each call takes a second person.");
await asks("That was only half of it.");
await decides("Ben", ben, { decision: "accepted", remember: true });
await decides("Ben", ben, { decision: "rejected", reason: "Half was agreed.", remember: true });
await asks("The postage as well, please.");
console.log(`the tool: ${await toolResult()}`);
for (const decision of await holdfast.approvals.remembered.list()) await holdfast.approvals.remembered.forget(decision);

console.log("\nAgreeing is no right: through a token that may only read, nothing is refunded.");
const reader = await throughToken("read_orders");
const reading = await holdfast.threads.open("order-8", { agent: "shop", principal: reader, workspace });
await asks("Refund mine as well.", reading);
await decides("Ben", ben, { decision: "accepted" }, reading);

console.log("\nWho decided stays with what was decided.");
for (const { summary, creator, status, resolver } of await holdfast.approvals.list()) {
  console.log(`${summary}, asked by ${creator}: ${status} by ${resolver}`);
}

console.log("\nA stranger has a file and a public key, and nothing else.");
const { publicKey } = holdfast.audit;
const file = JSON.stringify(await holdfast.audit.export());
console.log(`as it was written: ${verdict(file)}`);
console.log(`one byte changed: ${verdict(file.replace("never arrived", "lever arrived"))}`);

await thread.eraseMessage(0);
await thread.wait();
const later = JSON.stringify(await holdfast.audit.export());
console.log(`a message erased: ${verdict(later)}; it holds the words: ${later.includes("never arrived")}`);
await holdfast.close();

/** Whoever has this token acts for Ana, and may do no more than it lists. */
async function throughToken(...allowed_capabilities: string[]): Promise<Principal> {
  const { token } = await holdfast.tokens.create({ agent: "shop", owner_user_id: 7, allowed_capabilities });
  const acting = await holdfast.tokens.authenticate(token); // null for one that is unknown, expired or revoked
  if (!acting) throw new Error("The token lets nobody in.");
  return acting;
}

async function asks(content: string, of = thread) {
  const { status, final_content } = await of.send(content);
  const [action] = await holdfast.approvals.list({ status: "pending" });
  console.log(`${status}: ${action ? `${action.summary}, asked by ${action.creator}` : final_content}`);
}

async function decides(who: string, by: Principal, answer: Answer, of = thread) {
  const [action] = await holdfast.approvals.list({ status: "pending" });
  const id = action?.action_id ?? "";
  try {
    await holdfast.requests.submit(id, answer, { principal: by });
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    return console.log(`${who}: ${thrown.code}, ${thrown.detail.replace(id, "…")}`);
  }
  await of.wait();
  console.log(`${who}: ${JSON.stringify(answer)}\nthe tool: ${await toolResult(of)}`);
}

async function toolResult(of = thread) {
  const messages = (await of.messages()).map(({ message }) => message);
  return messages.findLast(({ type }) => type === "tool_result")?.content;
}

function verdict(text: string) {
  const found = verifyAudit(JSON.parse(text), publicKey);
  if (!found.ok) return `${found.broken.place} ${found.broken.seq}: ${found.broken.detail}`;
  return `holds, ${found.threads} threads, ${found.erased} erased`;
}
