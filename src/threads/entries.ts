// What stands in a thread's inbox, and what the holder of its lease makes of it. Pure: a table of cases.
import { z } from "zod";
import type { Entry } from "../backend/inbox.ts";
import type { Message } from "../contracts/conversation/message.ts";
import { messageSchema } from "../contracts/conversation/message.ts";

/** Bodies as they are stored. What may hold secrets is sealed. */
const bodies = {
  /** `resumes`: a user spoke, which lets a stopped thread go on. */
  message: z.object({ message: messageSchema, resumes: z.boolean() }),
  tool: z.object({ sealed: z.string() }),
  answer: z.object({ request_id: z.string() }),
  continue: z.object({}),
  stop: z.object({ reason: z.string() }),
  edit: z.object({ seq: z.int(), message: messageSchema }),
  deletion: z.object({ seq: z.int() }),
  settlement: z.object({ run: z.int(), number: z.int(), result: z.json() }),
} as const;

type Bodies = { readonly [Kind in keyof typeof bodies]: z.infer<(typeof bodies)[Kind]> };

/** An entry whose body was read. */
export type ReadEntry = {
  readonly [Kind in keyof Bodies]: { readonly seq: number; readonly kind: Kind; readonly body: Bodies[Kind] };
}[keyof Bodies];

export function readEntry({ seq, kind, body }: Pick<Entry, "seq" | "kind" | "body">): ReadEntry {
  return { seq, kind, body: bodies[kind].parse(JSON.parse(body)) } as ReadEntry;
}

/** What a run takes in at the beginning of a turn: messages, then the tools queued behind them; the rest is for the next turn. */
export type Drain = {
  readonly seqs: readonly number[];
  readonly messages: readonly Message[];
  /** Sealed. */
  readonly tools: readonly string[];
};

export function drain(entries: readonly ReadEntry[]): Drain {
  const seqs: number[] = [];
  const messages: Message[] = [];
  const tools: string[] = [];
  for (const entry of entries) {
    if (entry.kind === "message") {
      if (tools.length > 0) break;
      messages.push(entry.body.message);
    } else if (entry.kind === "tool") tools.push(entry.body.sealed);
    else if (entry.kind !== "continue") continue;
    seqs.push(entry.seq);
  }
  return { seqs, messages, tools };
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
  return kind === "message" || kind === "tool" || kind === "continue";
}
