// holdfast threads …: list, show, tail, send, stop, continue, fork, retry, delete and export.
import type { JsonMap } from "../../contracts/json.ts";
import { spoken, whole } from "../read-option.ts";
import { followInWords } from "../say-events.ts";
import { sayOutcome } from "../say-outcome.ts";
import { noteMore, table } from "../terminal.ts";
import type { Verb } from "../verb.ts";
import { wholeExport } from "../whole-export.ts";
import { writeSecret } from "../write-secret.ts";

type Thread = {
  readonly id: string;
  readonly key: string;
  readonly agent: string;
  readonly status: string;
  readonly steps: number;
  readonly updated_at: string;
};

const thread = { "<thread>": "the id of a thread" };

export const threadVerbs: readonly Verb[] = [
  {
    name: "threads list",
    summary: "list threads, the oldest first",
    options: {
      "--agent <slug>": "only those of an agent",
      "--status <status>": "only idle, running, waiting, stopped, terminated or stuck ones",
      "--limit <number>": "how many at most; 50 unless given",
      "--after <place>": "those after this place, or after this thread",
    },
    choices: { status: ["idle", "running", "waiting", "stopped", "terminated", "stuck"] },
    async run({ given, terminal, client }) {
      const { agent, status, after } = given;
      const input = { agent, status, after, limit: whole("--limit", given.limit) };
      type Page = { threads: Thread[]; has_more: boolean; next?: string };
      const answer = await (await client()).call<Page>("holdfast/list-threads", input);
      const { threads } = answer;
      terminal.answer(answer, () => {
        if (threads.length === 0) return "There are no threads.";
        const rows = threads.map((each) => [
          each.id,
          each.status,
          each.agent,
          String(each.steps),
          each.updated_at,
          each.key,
        ]);
        return table([["ID", "STATUS", "AGENT", "STEPS", "UPDATED", "KEY"], ...rows]);
      });
      noteMore(terminal, answer.next);
    },
  },
  {
    name: "threads open",
    summary: "open the thread of a key, or a new one",
    takes: { "<agent>": "the slug of an agent" },
    options: { "--key <key>": "your own name for it" },
    async run({ given, terminal, client }) {
      const { agent, key } = given;
      const opened = await (await client()).call<Thread>("holdfast/open-thread", { agent, key });
      terminal.answer(opened, ({ id }) => id);
    },
  },
  {
    name: "threads show",
    summary: "how a thread stands, and what was said in it",
    takes: thread,
    options: { "--limit <number>": "how many messages at most; 100 unless given" },
    async run({ given, terminal, client }) {
      const runtime = await client();
      const about = { thread_id: given.thread };
      const found = await runtime.call<Thread>("holdfast/get-thread", about);
      const limit = whole("--limit", given.limit);
      const { messages } = await runtime.call<{ messages: { seq: number; message: JsonMap }[] }>(
        "holdfast/list-messages",
        { ...about, limit },
      );
      terminal.answer({ thread: found, messages }, () => [
        `${found.id}  ${found.status}  ${found.agent}  ${found.steps} steps  ${found.key}`,
        ...messages.map(
          ({ seq, message }) => `${String(seq).padStart(4)}  ${String(message.role)}: ${contentOf(message)}`,
        ),
      ]);
    },
  },
  {
    name: "threads tail",
    summary: "follow a thread as it happens",
    takes: thread,
    options: {
      "--after <event>": "only what came after that event; `now` for nothing old",
      "--until-rest": "end where a run ends or waits for somebody",
    },
    async run({ given, terminal, client, signal }) {
      const events = (await client({ runs: true })).follow(String(given.thread), {
        ...(typeof given.after === "string" && { after: given.after }),
        untilRest: given.untilRest === true,
        signal,
      });
      if (!terminal.isJson) return await followInWords(events, terminal);
      for await (const event of events) terminal.answer(event, () => []);
    },
  },
  {
    name: "threads send",
    summary: "send a message to a thread",
    takes: { ...thread, "<message...>": "what to say" },
    options: {
      "--key <key>": "makes a repeat of this command the same send",
      "--no-wait": "return when it is stored",
    },
    async run({ given, terminal, client, signal }) {
      const wait = given.wait !== false;
      const input = { thread_id: given.thread, content: spoken(given.message), wait };
      const key = typeof given.key === "string" ? { key: given.key } : {};
      const outcome = await (await client({ runs: wait })).call("holdfast/send-message", input, { ...key, signal });
      terminal.answer(outcome, sayOutcome);
    },
  },
  {
    name: "threads stop",
    summary: "stop what a thread is doing; what is queued is kept",
    takes: thread,
    options: { "--reason <words>": "why" },
    async run({ given, terminal, client, signal }) {
      const input = { thread_id: given.thread, reason: given.reason };
      const stopped = await (await client({ runs: true })).call<Thread>("holdfast/stop-thread", input, { signal });
      terminal.answer(stopped, ({ id, status }) => `${id}  ${status}`);
    },
  },
  {
    name: "threads continue",
    summary: "let a stopped thread go on",
    takes: thread,
    async run({ given, terminal, client, signal }) {
      const runtime = await client({ runs: true });
      const outcome = await runtime.call("holdfast/continue-thread", { thread_id: given.thread }, { signal });
      terminal.answer(outcome, sayOutcome);
    },
  },
  {
    name: "threads fork",
    summary: "a new thread with this one's history",
    takes: thread,
    options: { "--at <event>": "up to the step that was settled by then", "--key <key>": "your own name for it" },
    async run({ given, terminal, client }) {
      const input = { thread_id: given.thread, key: given.key, at: whole("--at", given.at) };
      const forked = await (await client()).call<Thread>("holdfast/fork-thread", input);
      terminal.answer(forked, ({ id }) => id);
    },
  },
  {
    name: "threads retry",
    summary: "let a thread that got stuck try again",
    takes: thread,
    async run({ given, terminal, client }) {
      const answer = await (await client()).call("holdfast/retry-thread", { thread_id: given.thread });
      terminal.answer(answer, () => "It tries again.");
    },
  },
  {
    name: "threads delete",
    summary: "erase a thread and its children for good",
    takes: thread,
    async run({ given, terminal, client }) {
      const runtime = await client();
      const answer = await runtime.call<{ deleted: string[] }>("holdfast/delete-thread", { thread_id: given.thread });
      terminal.answer(answer, ({ deleted }) => deleted.map((id) => `deleted ${id}`));
    },
  },
  {
    name: "threads export",
    summary: "everything that is stored of a thread, secrets excepted, as JSON",
    takes: thread,
    options: { "--out <file>": "into a file; on stdout unless given" },
    async run({ given, terminal, client }) {
      const exported = await wholeExport(await client(), given.thread, (done, of) =>
        terminal.progress(done, of, "events"),
      );
      const text = JSON.stringify(exported, null, 2);
      if (typeof given.out !== "string") return terminal.answer(exported, () => text);
      await writeSecret(given.out, `${text}\n`);
      terminal.note(`Written to ${given.out}.`);
    },
  },
];

function contentOf({ type, content, payload }: JsonMap): string {
  if (type === "tool_call" || type === "tool_result") return `[${type}] ${JSON.stringify(payload)}`;
  return typeof content === "string" ? content : JSON.stringify(content);
}
