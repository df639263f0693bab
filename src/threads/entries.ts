// What stands in a thread's inbox, and what the holder of its lease makes of it. Pure: a table of cases.
import { z } from "zod";
import type { Entry, EntryKind, ThreadEntryKind } from "../backend/inbox.ts";
import type { Message } from "../contracts/conversation/message.ts";
import { messageSchema } from "../contracts/conversation/message.ts";

/** Where in a trace it was left. */
const trace = z.string().optional();

/** The safe part of the principal who left it, where the door knew that. */
const by = z.record(z.string(), z.json()).optional();

/** Bodies as they are stored. What may hold secrets is sealed. */
const bodies = {
  /** `resumes`: it lets a stopped thread go on. `request_id`: what the parent waits on until the thread is done with it. */
  message: z.object({ message: messageSchema, resumes: z.boolean(), request_id: z.string().optional(), trace }),
  /** Joins the history and starts nothing. */
  inject: z.object({ message: messageSchema }),
  /** The thread was created: those who want to know are told before anything else happens. */
  born: z.object({}),
  tool: z.object({ sealed: z.string(), trace }),
  answer: z.object({ request_id: z.string() }),
  continue: z.object({ trace }),
  stop: z.object({ reason: z.string() }),
  edit: z.object({ seq: z.int(), message: messageSchema }),
  deletion: z.object({ seq: z.int() }),
  /** One message, or all before one. */
  erasure: z.union([z.object({ seq: z.int(), by }), z.object({ before: z.int(), by })]),
  settlement: z.object({ run: z.int(), number: z.int(), result: z.json(), by }),
} as const satisfies Readonly<Record<ThreadEntryKind, z.ZodType>>;

type Bodies = { readonly [Kind in keyof typeof bodies]: z.infer<(typeof bodies)[Kind]> };

/** An entry whose body was read. */
export type ReadEntry = {
  readonly [Kind in keyof Bodies]: {
    readonly seq: number;
    readonly kind: Kind;
    readonly body: Bodies[Kind];
    /** When it was left, in microseconds since 1970; nothing for what is not stored yet. */
    readonly created_at?: number;
  };
}[keyof Bodies];

export function readEntry(entry: Pick<Entry, "seq" | "kind" | "body"> & Partial<Pick<Entry, "created_at">>): ReadEntry {
  const { seq, kind, body, created_at } = entry;
  if (!isOfThread(kind)) throw new Error(`Entry ${seq} is for a run of a workflow, and not for a thread: "${kind}".`);
  const read = bodies[kind].parse(JSON.parse(body));
  return { seq, kind, body: read, ...(created_at !== undefined && { created_at }) } as ReadEntry;
}

function isOfThread(kind: EntryKind): kind is ThreadEntryKind {
  return Object.hasOwn(bodies, kind);
}

/** What a run takes in at the beginning of a turn: messages, then the tools queued behind them; the rest is for the next turn. */
export type Drain = {
  readonly seqs: readonly number[];
  readonly messages: readonly Message[];
  /** Those among them that are to be acted on. */
  readonly asking: readonly Message[];
  /** Sealed. */
  readonly tools: readonly string[];
  /** What a parent waits on that was taken in last. */
  readonly awaited: string | null;
};

export function drain(entries: readonly ReadEntry[]): Drain {
  const seqs: number[] = [];
  const messages: Message[] = [];
  const asking: Message[] = [];
  const tools: string[] = [];
  let awaited: string | null = null;
  for (const entry of entries) {
    if (entry.kind === "message" || entry.kind === "inject") {
      if (tools.length > 0) break;
      messages.push(entry.body.message);
      if (entry.kind === "message") {
        asking.push(entry.body.message);
        awaited = entry.body.request_id ?? awaited;
      }
    } else if (entry.kind === "tool") tools.push(entry.body.sealed);
    else if (entry.kind !== "continue") continue;
    seqs.push(entry.seq);
  }
  return { seqs, messages, asking, tools, awaited };
}

/** The wishes to stop that count: a user who spoke after them has changed his mind about the queue, not about the run. */
export function stopsIn(entries: readonly ReadEntry[]): Extract<ReadEntry, { kind: "stop" }>[] {
  return entries.filter((entry) => entry.kind === "stop");
}

/**
 * True when the thread stays stopped: somebody stopped it, and no user has spoken since. `stoppedAt` is the number of the
 * wish that it was stopped with, null when it is not stopped.
 */
export function staysStopped(entries: readonly ReadEntry[], stoppedAt: number | null): boolean {
  const after = stopsIn(entries).at(-1)?.seq ?? stoppedAt;
  return after !== null && !entries.some((entry) => entry.seq > after && resumes(entry));
}

function resumes(entry: ReadEntry): boolean {
  return entry.kind === "continue" || (entry.kind === "message" && entry.body.resumes);
}

/** True when there is something that a new run would begin with. */
export function hasWork(entries: readonly ReadEntry[]): boolean {
  return entries.some(isWork);
}

/** What only a run takes in, and a stopped thread leaves where it is. */
export function isWork({ kind }: ReadEntry): boolean {
  return isWorkKind({ kind });
}

export function isWorkKind({ kind }: { readonly kind: EntryKind }): boolean {
  return kind === "message" || kind === "tool" || kind === "continue";
}
