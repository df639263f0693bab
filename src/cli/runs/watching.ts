// What watching a run takes, whatever it is shown as.
import { setTimeout as pause } from "node:timers/promises";
import type { ShownTree } from "../../workflows/operations/tree.ts";
import type { Client } from "../client.ts";
import type { Terminal } from "../terminal.ts";

export type Tree = ShownTree;

export type Watching = {
  readonly client: Client;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** A command as it is typed here. */
  typed(verb: string): string;
  /** True where this process has the database to itself: what the run waits for cannot come meanwhile. */
  readonly isAlone: boolean;
};

export type Run = Tree["run"];

const ends: readonly Run["status"][] = ["succeeded", "failed", "cancelled"];

const forAnswers: readonly Run["reason"][] = [
  ...(["waiting_for_approval", "waiting_for_request", "waiting_for_event", "paused"] as const),
];

/** How often it is looked how a run stands. */
const LOOK_MS = 300;

/** So often in a row it has to be found waiting: an answer that is there is not taken at once. */
const LOOKS = 10;

export function readTree(client: Client, runId: string): Promise<Tree> {
  return client.call<Tree>("holdfast/get-workflow-run-tree", { run_id: runId });
}

export function isOver(status: Run["status"]): boolean {
  return ends.includes(status);
}

function waitsForAnswer({ status, reason }: Run): boolean {
  return status === "suspended" && forAnswers.includes(reason);
}

/** Leaves a run that waits for an answer, unless it was left before. */
export async function leaveWhereItWaits(
  { client, signal }: Pick<Watching, "client" | "signal">,
  runId: string,
  leaving: AbortController,
): Promise<void> {
  const either = AbortSignal.any([signal, leaving.signal]);
  for (let found = 0; found < LOOKS; ) {
    await pauseFor(LOOK_MS, either);
    if (either.aborted) return;
    found = waitsForAnswer((await readTree(client, runId)).run) ? found + 1 : 0;
  }
  leaving.abort();
}

/** Until a run that had ended is taken up again. */
export async function untilCarriedOn(
  { client, signal }: Pick<Watching, "client" | "signal">,
  before: Run,
): Promise<void> {
  for (let { status, ended_at } = before; isOver(status) && ended_at === before.ended_at; ) {
    await pauseFor(LOOK_MS, signal);
    signal.throwIfAborted();
    ({ status, ended_at } = (await readTree(client, before.run_id)).run);
  }
}

export async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}
