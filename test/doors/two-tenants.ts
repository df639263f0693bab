// Two tenants of one server: each with a token of the same agent, and with one of everything that somebody can have here.
import type { UnknownMap } from "../../src/contracts/json.ts";
import * as principals from "../../src/contracts/trust/principal.ts";
import type { HoldfastOptions } from "../../src/holdfast.ts";
import type { Model } from "../../src/models/model.ts";
import { callsTool, type ScriptedAnswer, says } from "../../src/models/scripted/scripted-model.ts";
import type { ServeOptions } from "../../src/server/serve.ts";
import { type Agent, agent } from "../../src/threads/agent.ts";
import { effect } from "../../src/threads/definitions/effect.ts";
import { type Tool, tool } from "../../src/threads/tool.ts";
import { secretKey } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { type Served, serveRuntime } from "../served-runtime.ts";
import { childAgent, parentAgent } from "../survives-a-crash/child-agent.ts";

/** What the model does about the first word of what it is told. */
type Told = Readonly<Record<string, () => ScriptedAnswer>>;

const usual: Told = {
  pay: () => callsTool("shop/pay", { amount: 12 }),
  look: () => callsTool("client/look", { where: "outside" }),
  remind: () => callsTool("shop/remind", {}),
};

/** Says what it is about to call piece by piece, as models do. */
function modelOf(told: Told): Model {
  return async (messages, _context, { onDelta }) => {
    const { type, content } = messages.at(-1) ?? {};
    const word = String(content).split(" ")[0] ?? "";
    const answer = (type !== "tool_result" && told[word]?.()) || says("Yes.");
    const tool_calls = answer.tool_calls.map((call, index) => ({ id: `call-${messages.length}-${index}`, ...call }));
    if (answer.content !== "") onDelta?.({ type: "text", text: answer.content });
    for (const { id, name, parameters } of tool_calls) {
      const pieces = JSON.stringify(parameters).match(/.{1,4}/gs) ?? [];
      for (const text of pieces) {
        onDelta?.({ type: "tool_input", id, name, text });
        // Whoever follows gets to hear of it before it is over.
        await new Promise(setImmediate);
      }
    }
    return { ...answer, tool_calls };
  };
}

const usualTools = [
  tool({ name: "shop/pay", description: "Pays.", actionPolicy: "preview", execute: () => "paid" }),
  tool({ name: "shop/greet", description: "Greets.", execute: () => "hello" }),
  tool({ name: "client/look", description: "Looks." }),
  tool({
    name: "shop/remind",
    description: "Reminds.",
    execute: async (_input, { state }) => await state.scheduleEffect("remind", {}, 3_600_000),
  }),
];

const wish = { agent: "postman", message: "Fetch the mail.", attachments: [], name: "postman" };

/** What a test adds, or puts in the place of what is usual. */
export type House = {
  readonly told?: Told;
  readonly tools?: readonly Tool[];
  readonly runtime?: Partial<HoldfastOptions>;
  readonly server?: ServeOptions;
};

function agentsOf({ told = {}, tools = [] }: House): readonly Agent[] {
  const all = new Map([...usualTools, ...tools].map((each) => [each.name, each]));
  const model = modelOf({ ...usual, ...told });
  return [
    agent({ slug: "helper", model, tools: [...all.values()], retry: { attempts: 1 } }),
    parentAgent("household", {
      script: [callsTool("subagent_create", wish), says("Somebody has to set a token."), says("There is mail.")],
      tools: [{ name: "postman", resumable: {} }],
    }),
    childAgent("postman", {
      script: [callsTool("finish", { text: "Two letters." })],
      variables: [{ name: "MAIL_TOKEN", required: true, scoped: true }],
    }),
  ];
}

/** Goes on with an event alone. */
const errand = { id: "errand", steps: [{ id: "go", type: "wait", event: "go" }] };

/** What tenants hold beyond what everybody has: each for what is theirs. */
export const heldByTenants: readonly string[] = ["bridge.use", "tokens.manage", "channels.send", "workflows.run"];

/** What guidelines ask for, which are no capabilities of operations. */
const heldForGuidelines: readonly string[] = ["read", "edit_posts", "publish_posts", "promote_agent_memory"];

export type Tenant = {
  readonly name: string;
  readonly user: number;
  readonly token: string;
  readonly token_id: number;
};

export type Tenants = {
  readonly served: Served;
  readonly alice: Tenant;
  readonly bob: Tenant;
  /** The token of who may do everything. */
  readonly manager: string;
};

export async function twoTenants(house: House = {}): Promise<Tenants> {
  const users: Readonly<Record<string, number>> = { alice: 2, bob: 3 };
  const { trust, ...runtime } = house.runtime ?? {};
  const served = await serveRuntime(house.server, {
    agents: agentsOf(house),
    workflows: [errand],
    effects: [effect({ name: "remind", description: "Reminds.", handler: () => undefined })],
    ...{ secretKey, drainsOnSignal: false, ...runtime },
    trust: {
      administrators: [1],
      holdsCapability: (user, capability) => user > 1 && [...heldByTenants, ...heldForGuidelines].includes(capability),
      ...trust,
    },
  });
  const tenant = async (name: string): Promise<Tenant> => {
    const user = users[name] ?? 0;
    for (const slug of ["helper", "household"]) {
      await served.holdfast.grants.grant({ agent: slug, user_id: user, role: "operator" });
    }
    // Where one of their threads belongs.
    const there = { workspace_id: privateTo(name) };
    await served.holdfast.grants.grant({ agent: "helper", user_id: user, role: "operator", ...there });
    const { token, metadata } = await served.holdfast.tokens.create({
      ...{ agent: "visitor", owner_user_id: user, client_id: `${name}-phone`, label: privateTo(name) },
    });
    return { name, user, token, token_id: metadata.token_id };
  };
  const manager = await served.holdfast.tokens.create({ agent: "office", owner_user_id: 1 });
  return { served, alice: await tenant("alice"), bob: await tenant("bob"), manager: manager.token };
}

/** A word that stands in whatever is a tenant's, and in nothing else. */
export function privateTo(name: string): string {
  return `private-to-${name}`;
}

/** One of everything, by the names under which tests ask for it. */
export type Belongings = Awaited<ReturnType<typeof belongingsOf>>;

export async function belongingsOf(served: Served, { name, token, token_id, user }: Tenant) {
  const word = privateTo(name);
  const threads = threadsOf(served, token);
  const { ask } = threads;

  const thread_id = await threads.open({ tags: [word], key: word });
  await threads.say(thread_id, `Hello, this is ${word}.`);
  await ask("PUT", `/threads/${thread_id}/files/${word}.txt`, { data: Buffer.from(word).toString("base64") });
  await ask("PUT", `/memories/${word}`, { content: `About ${word}.` });
  const kept = { workspace_id: "here", scope: "private_user_workspace_memory", title: word, content: word };
  const guideline = await ask("POST", "/guidelines", kept);
  const { session } = await ask("POST", "/sessions", { metadata: { of: word } });
  await ask("PATCH", `/sessions/${session.session_id}`, { title: word });
  const run_id = `run-${word}`;
  const chat = await ask("POST", "/agents/helper/chat", { message: `Hello from ${word}.`, run_id });
  const effect = await threads.reminder();
  const queued = await threads.queued();
  const bridge = await threads.bridged(word);
  const issued = await ask("POST", "/tokens", { agent: "visitor", label: word });
  const errand = await threads.errand(word);
  const workspace = { workspace_type: "site", workspace_id: word };
  const decided = await threads.waiting("pay", { workspace });
  // A token does not decide about what was done with it: the person behind it does, elsewhere.
  const person = { principal: principals.userSession(user, "visitor", { request_context: "rest" }) };
  await served.holdfast.requests.submit(decided.request_id, { decision: "accepted", remember: true }, person);
  await served.holdfast.threads.get(decided.thread_id).then((thread) => thread.wait());

  return {
    ...{ user_id: user, token_id, owner: { type: "token", key: String(token_id) }, client_id: `${name}-phone` },
    ...{ thread_id, key: word, file: `${word}.txt`, memory: word, guideline_id: String(guideline.id) },
    ...{ session_id: String(session.session_id), chat_id: String(chat.session_id), run_id, effect, queued, bridge },
    workflow_run: errand,
    ...{ issued_token: Number(issued.metadata.token_id), decided, workspace },
    approval: await threads.waiting("pay"),
    client: await threads.waiting("look"),
    variables: await threads.variables(),
  };
}

/** Ways to new things of whoever holds a token, all of them over HTTP. */
export function threadsOf(served: Served, token: string) {
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
  async function ask(method: string, path: string, json?: UnknownMap): Promise<any> {
    const { status, text } = await served.ask(token, path, { method, ...(json && { json }) });
    if (status >= 300) throw new Error(`${method} ${path} was refused: ${text}`);
    return JSON.parse(text);
  }

  async function open(more: UnknownMap = {}): Promise<string> {
    return String((await ask("POST", "/threads", { agent: "helper", ...more })).id);
  }

  const say = (id: string, content: string) => ask("POST", `/threads/${id}/messages`, { content, wait: true });

  /** A thread that waits for an answer after it was told a word. */
  async function waiting(word: string, more: UnknownMap = {}) {
    const thread_id = await open(more);
    const { waiting_for } = await say(thread_id, word);
    return { thread_id, request_id: String(waiting_for.request_id), run_id: `${thread_id}:1` };
  }

  async function variables() {
    const thread_id = await open({ agent: "household" });
    await say(thread_id, "Is there mail?");
    const { requests } = await ask("GET", `/requests?thread_id=${thread_id}&status=pending`);
    return { thread_id, request_id: String(requests[0].id) };
  }

  async function reminder() {
    const thread_id = await open();
    await say(thread_id, "remind");
    const { effects } = await ask("GET", `/threads/${thread_id}/effects`);
    return { thread_id, effect_id: String(effects[0].id) };
  }

  async function queued() {
    const thread_id = await open();
    await ask("POST", `/threads/${thread_id}/stop`, {});
    const { id } = await ask("POST", `/threads/${thread_id}/messages`, { content: "Later.", queue: true });
    return { thread_id, entry_id: String(id) };
  }

  /** A run of a workflow that waits. */
  async function errand(word = "an errand") {
    const { run_id } = await ask("POST", "/workflows/errand/runs", { inputs: { of: word }, tags: [word] });
    return eventually(async () => {
      const { status } = await ask("GET", `/workflow-runs/${run_id}`);
      if (status !== "suspended") throw new Error("It does not wait yet.");
      return String(run_id);
    });
  }

  /** A message that came over a bridge, and the answer to it that waits there. */
  async function bridged(word: string) {
    await ask("POST", "/agents-api/v1/bridge/register", { context: { of: word } });
    const said = { agent: "helper", message: word, message_id: `m-${word}`, conversation_id: `c-${word}` };
    const { session_id } = await ask("POST", "/agents-api/v1/bridge/send", said);
    const queue_id = await eventually(async () => {
      const { messages } = await ask("GET", `/agents-api/v1/bridge/pending?session_ids=${session_id}`);
      if (messages.length === 0) throw new Error("Nothing waits yet.");
      return String(messages[0].queue_id);
    });
    return { session_id: String(session_id), queue_id };
  }

  return { ask, open, say, waiting, variables, reminder, queued, errand, bridged };
}
