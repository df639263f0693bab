// How many requests the server answers beside an empty route of Hono, and how long the slowest of them take.
import { readFile } from "node:fs/promises";
import { figure, table, times } from "../markdown.ts";
import { median, medianRatio } from "../median.ts";
import { inFreshSchema, postgresUrl } from "../postgres-server.ts";
import type { Section, Size } from "../section.ts";
import { type Subject, startSubject } from "../subject.ts";
import type { Answer, Order } from "./load-process.ts";
import { type Server, startServer } from "./server-subject.ts";

const sizes = {
  full: { rounds: 9, milliseconds: 2_000, warmUp: 3_000, threads: 2_000 },
  quick: { rounds: 2, milliseconds: 400, warmUp: 500, threads: 64 },
} as const;

const CONNECTIONS = 16;
/** Before each sample, because the compiler and the caches forget while a server waits for its turn. */
const REMINDER_MILLISECONDS = 300;

type Asked = Order["requests"][number];
type Contestant = {
  readonly says: string;
  readonly server: Server;
  readonly requests: readonly Asked[];
  readonly samples: Sample[];
};
/** `processor`: microseconds of the server's for one request. */
type Sample = Pick<Answer, "perSecond" | "p99"> & { readonly processor: number };

export const requests: Section = {
  name: "requests",
  title: "Requests over HTTP",
  async measure(size) {
    const url = await postgresUrl();
    return await inFreshSchema(url, async (schema) => {
      const contestants = await start(size, { url, schema });
      const load = startSubject<Order, Answer>(new URL("load-process.ts", import.meta.url));
      try {
        await measureAll(contestants, load, size);
      } finally {
        await Promise.all([load.end(), ...contestants.map(({ server }) => server.end())]);
      }
      const [empty, , , reading] = contestants;
      return {
        targets: [
          {
            says: "Reading a thread over HTTP, SQLite: at least 0.4 × as many requests a second as an empty route of Hono",
            limit: { atLeast: 0.4 },
            measured: empty && reading && ratio(reading, empty, "perSecond"),
          },
        ],
        tables: [results(contestants)],
        reading: text,
        versions: { hono: await versionOf("hono"), "@hono/node-server": await versionOf("@hono/node-server") },
      };
    });
  },
};

async function start(size: Size, place: { url: string; schema: string }): Promise<readonly Contestant[]> {
  const { threads } = sizes[size];
  const file = "holdfast-process.ts";
  const ready = (says: string, server: Server, asked: readonly Asked[]) => ({
    says,
    server,
    requests: asked,
    samples: [],
  });
  const one = (path: string): readonly Asked[] => [{ method: "GET", path }];
  const read = ({ threads: ids }: Server): Asked[] => ids.map((id) => ({ method: "GET", path: `/threads/${id}` }));
  const body = JSON.stringify({ content: "Go on.", wait: true });
  const chat = ({ threads: ids }: Server): Asked[] =>
    ids.map((id) => ({ method: "POST", path: `/threads/${id}/messages`, body }));

  const bare = await startServer("bare-process.ts");
  const outside = await startServer(file);
  const inside = await startServer(file);
  const sqlite = await startServer(file, { threads });
  const postgres = await startServer(file, { threads, postgres: place });
  const chatting = await startServer(file, { threads });
  return [
    ready("an empty route of Hono, with nothing around it", bare, one("/empty")),
    ready("an empty route, before it is known who calls", outside, one("/empty")),
    ready("an empty route, behind everything", inside, one("/empty-inside")),
    ready("`GET /threads/:id`, SQLite", sqlite, read(sqlite)),
    ready("`GET /threads/:id`, PostgreSQL", postgres, read(postgres)),
    ready("`POST /threads/:id/messages`, an answer in one step, SQLite (FULL)", chatting, chat(chatting)),
  ];
}

/** Each in turn in every round. */
async function measureAll(contestants: readonly Contestant[], load: Subject<Order, Answer>, size: Size): Promise<void> {
  const { rounds, milliseconds, warmUp } = sizes[size];
  for (const contestant of contestants) await load.ask(orderFor(contestant, warmUp));
  for (let round = 0; round < rounds; round++) {
    for (const contestant of contestants) {
      const { server, samples } = contestant;
      await load.ask(orderFor(contestant, REMINDER_MILLISECONDS));
      const before = await server.processorTime();
      const { perSecond, p99, answers } = await load.ask(orderFor(contestant, milliseconds));
      samples.push({ perSecond, p99, processor: ((await server.processorTime()) - before) / answers });
    }
  }
}

function orderFor({ server: { url, token }, requests: asked }: Contestant, milliseconds: number): Order {
  return { url, token, requests: asked, connections: CONNECTIONS, milliseconds };
}

function results(contestants: readonly Contestant[]): string {
  const [empty = { samples: [] }] = contestants;
  return table(
    [`${CONNECTIONS} connections`, "requests/s", "times empty", "p99, ms", "times empty", "processor, µs", "busy"],
    contestants.map((each) => {
      const processor = median(samplesOf(each, "processor"));
      const perSecond = median(samplesOf(each, "perSecond"));
      return [
        each.says,
        figure(perSecond),
        times(ratio(each, empty, "perSecond")),
        figure(median(samplesOf(each, "p99"))),
        times(ratio(each, empty, "p99")),
        figure(processor),
        `${figure((processor * perSecond) / 10_000)} %`,
      ];
    }),
  );
}

type Sampled = Pick<Contestant, "samples">;

function samplesOf({ samples }: Sampled, what: keyof Sample): readonly number[] {
  return samples.map((sample) => sample[what]);
}

function ratio(one: Sampled, other: Sampled, what: keyof Sample): number {
  return medianRatio(samplesOf(one, what), samplesOf(other, what));
}

async function versionOf(name: string): Promise<string> {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return JSON.parse(await readFile(file, "utf8")).version;
}

const text = `Each server has a process of its own and is asked by another process over loopback, on ${CONNECTIONS} connections that stay
open, each with one request at a time: the next one follows when the answer is there. The requests are the same bytes but for
the path and the body; the client does little more than count, and never sleeps, because to be woken would be charged to the
server. **Processor** is what the server's process has used for a
request, the kernel and the garbage collector included, and **busy** the share of one core which that was: where it is about all
of one, it was the server that could not go faster, and not the client.

The **empty route** answers \`{}\`. **Before it is known who calls** it stands behind what every request passes in Holdfast's server:
its id, the check of host and origin, the bound of its body, the headers that keep browsers careful. **Behind everything** its
token is looked up in the database too: a token that was revoked lets nobody in from that moment on, so it is read every time, and
only what follows from it is remembered. **Reading a thread** is that, and whose the thread is and how it stands, asked through the same desk that every other door
uses. Whoever asks is not an administrator and reads threads of their own.

**An answer in one step** is a message to a thread, the run that it starts, and its outcome in the answer to the request: the
scripted model answers at once. It is several commits, each of which waits for the disk, shared by those that come at the same time; what
those take stands further up.`;
