// How much memory a reader takes who follows a thread on which nothing happens, and whether they all hear when something does.
import assert from "node:assert/strict";
import { figure, table } from "../markdown.ts";
import type { Section, Size } from "../section.ts";
import { startSubject } from "../subject.ts";
import type { Answer, Order } from "./reader-process.ts";
import { type Memory, startServer } from "./server-subject.ts";

/** Before it is looked, everything is compiled and every cache is filled: so many readers are there already. */
const sizes = {
  full: { before: 400, step: 500, steps: 4, threads: 200, servers: 3 },
  quick: { before: 100, step: 50, steps: 2, threads: 20, servers: 1 },
} as const;

const MOST_KILOBYTES = 20;

type Step = Memory & { readonly readers: number };

export const streams: Section = {
  name: "streams",
  title: "Idle readers of streams",
  async measure(size) {
    const { memories, readers, milliseconds } = await middleOf(size);
    const count = (memories.at(-1)?.readers ?? 0) - (memories[0]?.readers ?? 0);
    const target = (says: string, bytes: (memory: Memory) => number) => ({
      says: `${count.toLocaleString("en")} idle readers of streams, ${says}: at most ${MOST_KILOBYTES} kB each`,
      limit: { atMost: MOST_KILOBYTES },
      measured: growth(memories, bytes),
      unit: "kB",
    });
    return {
      targets: [target("memory in use", inUse), target("memory of the process", resident)],
      tables: [
        memoryTable(memories),
        `A message to one thread, and its answer, were heard by all ${readers} readers of it and by no other, ${figure(milliseconds)} milliseconds
after the message was sent.`,
      ],
      reading,
    };
  },
};

/** The server in the middle of several, by what its process takes. */
async function middleOf(size: Size) {
  const measured: Awaited<ReturnType<typeof measure>>[] = [];
  while (measured.length < sizes[size].servers) measured.push(await measure(size));
  const grown = ({ memories }: (typeof measured)[number]) => growth(memories, resident) ?? Number.NaN;
  const middle = measured.toSorted((left, right) => grown(left) - grown(right))[Math.floor(measured.length / 2)];
  assert.ok(middle);
  return middle;
}

async function measure(size: Size) {
  const { before, step, steps, threads: count } = sizes[size];
  const server = await startServer("holdfast-process.ts", { threads: count }, ["--expose-gc"]);
  const listeners = startSubject<Order, Answer>(new URL("reader-process.ts", import.meta.url));
  try {
    const { url, token, threads } = server;
    const open = (readers: number) => listeners.ask({ do: "open", url, token, threads, readers });
    await open(before);
    const memories: Step[] = [{ readers: before, ...(await server.memory()) }];
    for (let index = 1; index <= steps; index++) {
      await open(step);
      memories.push({ readers: before + index * step, ...(await server.memory()) });
    }
    const thread = threads[Math.floor(count / 2)] ?? "";
    const begun = performance.now();
    const [heard] = await Promise.all([listeners.ask({ do: "hear", thread }), server.send(thread)]);
    const milliseconds = performance.now() - begun;
    assert.equal(heard.own, (before + steps * step) / count);
    assert.equal(heard.others, 0, "readers of other threads have heard something");
    return { memories, readers: heard.own, milliseconds };
  } finally {
    await Promise.all([listeners.end(), server.end()]);
  }
}

function inUse({ heap, external }: Memory): number {
  return heap + external;
}

function resident({ resident: bytes }: Memory): number {
  return bytes;
}

/** Kilobytes for each reader that came after the first step. */
function growth(memories: readonly Step[], bytes: (memory: Memory) => number): number | undefined {
  const [first, last] = [memories[0], memories.at(-1)];
  return first && last && (bytes(last) - bytes(first)) / (last.readers - first.readers) / 1_000;
}

function memoryTable(memories: readonly Step[]): string {
  return table(
    ["Readers", "heap, kB", "external, kB", "process, kB", "in use, a reader more", "process, a reader more"],
    memories.map((memory, index) => {
      const since = memories.slice(index - 1, index + 1);
      return [
        memory.readers.toLocaleString("en"),
        ...[memory.heap, memory.external, memory.resident].map((bytes) => figure(bytes / 1_000)),
        ...[inUse, resident].map((bytes) => (index === 0 ? "–" : figure(growth(since, bytes) ?? Number.NaN))),
      ];
    }),
  );
}

const reading = `Readers follow threads with \`GET /threads/:id/stream\`, ${sizes.full.threads} threads in turn, over a connection each, and have been told that they
are connected. Nothing happens on their threads. The server's memory is measured after full collections: **in use** are the heap
and what lies outside of it, such as buffers; the **process** is all that it holds in memory, with what the allocators keep for
later. How much those keep differs from one process to the next: ${sizes.full.servers} servers are measured, and
the one in the middle is shown. The connections' buffers in the kernel are in neither. The targets are about the readers after the first ${sizes.full.before}, who have had
everything compiled and every cache filled.`;
