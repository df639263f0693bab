// holdfast chat and holdfast run: talking with an agent. Approvals are decided and client tools answered in place, and what
// was said is on a thread that can be gone on with.
import { randomUUID } from "node:crypto";
import type { JsonMap } from "../../contracts/json.ts";
import { answerWaiting } from "../answer-waiting.ts";
import type { Client } from "../client.ts";
import { spoken } from "../read-option.ts";
import { Refusal } from "../refusal.ts";
import { createSpeech } from "../say-events.ts";
import { sayOutcome } from "../say-outcome.ts";
import type { Terminal } from "../terminal.ts";
import type { Verb, Work } from "../verb.ts";

type Thread = {
  readonly id: string;
  readonly agent: string;
  readonly status: string;
  readonly position: string | null;
};

export const chatVerbs: readonly Verb[] = [
  {
    name: "chat",
    summary: "talk with an agent",
    takes: { "[agent]": "its slug; the only one, or the first, unless given" },
    options: {
      "--thread <thread>": "go on with this thread",
      "--key <key>": "your own name for the thread; `chat` unless given",
      "--new": "begin anew",
    },
    examples: ["holdfast chat", "holdfast chat support --key customer-42", "echo 'Where is order 7?' | holdfast chat"],
    async run(work) {
      const { terminal, signal } = work;
      const client = await work.client({ runs: true });
      const thread = await openThread(client, work);
      terminal.note(
        `Thread ${thread.id} with ${thread.agent} on ${client.place}. /quit or Ctrl-D ends; the thread stays.`,
      );
      const talk = { client, terminal, signal, threadId: thread.id };
      // What it was waiting for when somebody left.
      let after = await settle(talk, thread.position ?? undefined);
      for await (const words of lines(terminal, signal)) {
        if (words === "/quit") return;
        if (words.trim() === "") continue;
        await client.call("holdfast/send-message", { thread_id: thread.id, content: words }, { key: randomUUID() });
        after = await settle(talk, await listen(talk, after));
      }
    },
  },
  {
    name: "run",
    summary: "one message, one answer; exits with 0 when the run is completed",
    takes: { "<agent>": "the slug of an agent", "<message...>": "what to say" },
    options: { "--key <key>": "the thread of this key; a new one unless given" },
    async run({ given, terminal, client: connect, signal }) {
      const content = spoken(given.message);
      const client = await connect({ runs: true });
      const { id } = await client.call<Thread>("holdfast/open-thread", { agent: given.agent, key: given.key });
      const input = { thread_id: id, content, wait: true };
      const outcome = await client.call("holdfast/send-message", input, { key: randomUUID(), signal });
      terminal.answer(outcome, sayOutcome);
      if (outcome.status !== "completed") {
        throw new Refusal({ code: "run_not_completed", message: `The run is ${String(outcome.status)}.` }, undefined);
      }
    },
  },
];

async function openThread(client: Client, { given }: Pick<Work, "given">): Promise<Thread> {
  if (typeof given.thread === "string") {
    return await client.call<Thread>("holdfast/get-thread", { thread_id: given.thread });
  }
  const agent = given.agent ?? (await firstAgent(client));
  const key = given.new === true ? undefined : (given.key ?? "chat");
  return await client.call<Thread>("holdfast/open-thread", { agent, key });
}

async function firstAgent(client: Client): Promise<string> {
  const { agents } = await client.call<{ agents: readonly { readonly slug: string }[] }>("holdfast/list-agents");
  const [first] = agents;
  if (first) return first.slug;
  throw new Refusal(
    { code: "agent_not_found", message: "There is no agent here." },
    "Define one in holdfast.config.mts; holdfast init makes such a file.",
  );
}

type Talk = {
  readonly client: Client;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly threadId: string;
};

/** Prints what happens after a place until the thread rests; answers with where it was then. */
async function listen({ client, terminal, signal, threadId }: Talk, after?: string): Promise<string | undefined> {
  const speech = createSpeech(terminal);
  let last = after;
  const options = { untilRest: true, signal, ...(after !== undefined && { after }) };
  for await (const event of client.follow(threadId, options)) {
    if ("id" in event) last = event.id;
    // What the person has typed stands there already.
    const isOwn = event.type === "message.added" && event.message.type === "text" && event.message.role === "user";
    if (!isOwn && event.type !== "request.created") speech.tell(event);
  }
  speech.end();
  return last;
}

/** Has everything decided and answered that the thread waits for. */
async function settle(talk: Talk, after?: string): Promise<string | undefined> {
  const { client, terminal, signal } = talk;
  let last = after;
  for (;;) {
    const waiting = await pendingRequest(talk);
    if (!waiting || !(await answerWaiting(client, terminal, waiting, signal))) return last;
    last = await listen(talk, last);
  }
}

/** A child answers by itself, and variables are secrets that nobody should type into a chat. */
async function pendingRequest({ client, threadId }: Talk): Promise<JsonMap | undefined> {
  const { requests } = await client.call<{ requests: readonly JsonMap[] }>("holdfast/list-requests", {
    thread_id: threadId,
    status: "pending",
  });
  return requests.find(({ kind }) => kind === "approval" || kind === "client_tool");
}

/** What the person types, or a pipe brings, line by line. */
async function* lines(terminal: Terminal, signal: AbortSignal): AsyncGenerator<string> {
  for (;;) {
    const words = await terminal.ask(terminal.isInteractive ? terminal.style("bold", "you> ") : "", signal);
    if (words === undefined || signal.aborted) return;
    yield words;
  }
}
