// holdfast chat and holdfast run: talking with an agent. Approvals are decided and client tools answered in place, and what
// was said is on a thread that can be gone on with.
import { randomUUID } from "node:crypto";
import type { StreamEvent } from "../../abilities/follow.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
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
      if (terminal.isJson) terminal.answer({ type: "thread.opened", thread }, () => []);
      const talk = { client, terminal, signal, threadId: thread.id };
      // What it was waiting for when somebody left.
      let after = await settle(talk, thread.position ?? undefined);
      for await (const words of lines(terminal, signal)) {
        if (words === "/quit") return;
        if (words.trim() === "") continue;
        const message = { thread_id: thread.id, content: words };
        const sent = await client.call("holdfast/send-message", message, { key: randomUUID() });
        after = await settle(talk, await listen(talk, after, sent));
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

/** Prints what happens after a place until the thread rests; answers with where it was then. `sent`: what began it. */
async function listen(talk: Talk, after?: string, sent?: JsonMap): Promise<string | undefined> {
  const { client, terminal, signal, threadId } = talk;
  const speech = createSpeech(terminal);
  let last = after;
  let run: number | undefined;
  const options = { untilRest: true, signal, ...(after !== undefined && { after }) };
  for await (const event of client.follow(threadId, options)) {
    if ("id" in event) [last, run] = [event.id, event.run];
    if (terminal.isJson) terminal.answer(event, () => []);
    else if (!standsThere(event)) speech.tell(event);
  }
  speech.end();
  if (terminal.isJson) terminal.answer({ type: "outcome", ...(await outcomeOf(talk, run, sent)) }, () => []);
  return last;
}

/** What the person has typed, and what they are about to be asked. */
function standsThere(event: StreamEvent): boolean {
  if (event.type === "request.created") return true;
  if (event.type !== "message.added") return false;
  const { type, role } = event.message;
  return type === "approval_required" || (type === "text" && role === "user");
}

/** Of the run that was heard; where nothing was, the message waits for a run. */
async function outcomeOf({ client, threadId }: Talk, run?: number, sent: JsonMap = {}): Promise<JsonMap> {
  if (run === undefined) return sent;
  const { outcome } = await client.call("holdfast/get-run", { thread_id: threadId, run });
  return { thread_id: threadId, run, ...(isMap(outcome) && outcome) };
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
