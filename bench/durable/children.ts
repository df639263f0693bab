// What a child costs its parent: the last hundred of a thousand beside the first.
import assert from "node:assert/strict";
import { agent, prompt, tool } from "../../src/index.ts";
import { figure, table, times } from "../markdown.ts";
import { postgresUrl } from "../postgres-server.ts";
import type { Section, Size } from "../section.ts";
import { compacted } from "./null-agent.ts";
import { openRuntime } from "./open-runtime.ts";
import { inFreshDatabase, type Place } from "./place.ts";

const kinds = [
  { says: "gone once they have delivered", stays: false },
  { says: "that stay", stays: true },
] as const;

const WINDOW = 100;

export const children: Section = {
  name: "children",
  title: "A thousand children of one parent",
  async measure(size: Size) {
    const count = size === "quick" ? 300 : 1_000;
    const databases = ["sqlite", "postgres"] as const;
    const rows = [];
    for (const database of databases) {
      for (const { says, stays } of kinds)
        rows.push({ says: `${database}, children ${says}`, ...(await cost(database, count, stays)) });
    }
    return {
      targets: rows.map(({ says, first, last }) => ({
        says: `${says}: the last ${WINDOW} of ${count.toLocaleString("en")} at most 1.5 × as expensive as the first`,
        limit: { atMost: 1.5 },
        measured: last / first,
      })),
      tables: [
        table(
          ["Microseconds a child", `the first ${WINDOW}`, `the last ${WINDOW}`, "ratio"],
          rows.map(({ says, first, last }) => [says, figure(first), figure(last), times(last / first)]),
        ),
      ],
      reading,
    };
  },
};

type Cost = { readonly first: number; readonly last: number };

async function cost(database: "sqlite" | "postgres", count: number, stays: boolean): Promise<Cost> {
  const place: Place =
    database === "sqlite" ? { database, synchronous: "normal" } : { database, url: await postgresUrl() };
  return await inFreshDatabase(place, async ({ backend }) => {
    const stamps: number[] = [];
    const { agents } = family(count, stays, () => stamps.push(performance.now()));
    const holdfast = await openRuntime(backend, agents);
    try {
      // Code that has run once is faster: that is not to count for the last ones.
      await run("warm", WINDOW);
      stamps.length = 0;
      await run("measured", count);
    } finally {
      await holdfast.close();
    }
    const mean = (to: number) => (((stamps[to] ?? Number.NaN) - (stamps[to - WINDOW] ?? Number.NaN)) * 1000) / WINDOW;
    return { first: mean(WINDOW), last: mean(count) };

    async function run(key: string, wanted: number): Promise<void> {
      const thread = await holdfast.threads.open(key, { agent: "parent" });
      const { status } = await thread.send(String(wanted));
      assert.equal(status, "completed");
      assert.equal((await thread.children()).length, wanted, "there are not as many children as were created");
    }
  });
}

/** A parent that creates one child after the other and waits for each; a child says one thing and ends its session. */
function family(count: number, stays: boolean, onAsked: () => void) {
  const report = tool({ name: "report", description: "Reports.", execute: () => "done" });
  const work = prompt({
    name: "work",
    prompt: "You do one thing.",
    includeChat: true,
    tools: [report],
    model: () => ({ content: "", tool_calls: [{ name: "report", parameters: {} }] }),
  });
  const idle = prompt({ name: "idle", prompt: "You do nothing.", includeChat: true, model: () => "Go on." });
  const child = agent({
    ...{ name: "child", type: "dual_ai", exposeAsTool: true, toolDescription: "Does one thing." },
    sideA: { prompt: work, sessionStop: "report" },
    sideB: { prompt: idle },
  });
  const created = (step: number) =>
    stays
      ? {
          name: "subagent_create",
          parameters: { agent: "child", message: "go", attachments: [], name: `child ${step}` },
        }
      : { name: "child", parameters: { step } };
  let step = 0;
  let wanted = 0;
  const parent = agent({
    slug: "parent",
    maxTurns: count + WINDOW + 1,
    tools: [{ name: "child", blocking: true, ...(stays && { resumable: { receives_messages: "side_a" } }) }],
    model: (messages) => {
      onAsked();
      const asked = messages.findLast(({ role, type }) => role === "user" && type === "text")?.content;
      if (wanted === 0) wanted = Number(asked);
      if (step === wanted) {
        step = wanted = 0;
        return "Done.";
      }
      return { content: "", tool_calls: [created(step++)] };
    },
    ...compacted,
  });
  return { agents: [parent, child] };
}

const reading = `A parent creates children and waits for each. A child is a thread of its own: creating it, the first message, its own
run with one call, and the delivery are eight commits or so of two threads. The parent's old messages become a summary, as in
every thread that long, so what is left to grow is what the parent knows of its children: rows that are found by an index.`;
