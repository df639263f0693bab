// A run as it happens: a tree that is drawn over in place for a person, and a line for each event through a pipe.
import { isMap, type JsonMap } from "../../contracts/json.ts";
import type { ShownRunEvent } from "../../workflows/operations/events.ts";
import { Refusal } from "../refusal.ts";
import { drawRun } from "./draw-run.ts";
import { fitLines } from "./fit-lines.ts";
import { drawAsItGoes } from "./live-run.ts";
import { paintWith } from "./paint.ts";
import { isOver, leaveWhereItWaits, readTree, type Tree, type Watching } from "./watching.ts";

/** Returns once the run has succeeded. Throws what it came to else, and where it waits for an answer that cannot come. */
export async function watchRun(watching: Watching, runId: string, after?: string): Promise<void> {
  const { client, terminal, signal } = watching;
  const tree = terminal.live
    ? await drawAsItGoes(watching, runId)
    : await goAlong(watching, runId, { after, each: (event) => terminal.answer(event, eventLine) });
  signal.throwIfAborted();
  if (!terminal.live) terminal.answer({ type: "outcome", ...tree.run }, () => drawnOnce(tree, watching).slice(0, 1));
  if (tree.run.status === "succeeded") return;
  throw notSucceeded(tree, await client.call("holdfast/get-workflow-run", { run_id: runId }));
}

/** The record of the run once it has ended, or waits for an answer that cannot come; with how it stands then. */
export async function resultOf(
  watching: Watching,
  runId: string,
): Promise<{ readonly tree: Tree; readonly record: JsonMap }> {
  const tree = await goAlong(watching, runId, { after: undefined, each: () => undefined });
  watching.signal.throwIfAborted();
  return { tree, record: await watching.client.call("holdfast/get-workflow-run", { run_id: runId }) };
}

/** What a run that has not succeeded is refused with. */
export function notSucceeded({ run: { run_id, status, reason } }: Tree, { error }: JsonMap): Refusal {
  if (!isOver(status)) {
    const message = `The run waits: ${(reason ?? status).replaceAll("_", " ")}.`;
    return refusal(message, `Once it has what it waits for: holdfast runs follow ${run_id}`);
  }
  if (status === "cancelled") return refusal("The run was cancelled.");
  const { code = "", message = "" } = isMap(error) ? error : {};
  const why = [code, message].filter((words) => typeof words === "string" && words !== "").join(": ");
  return refusal(why === "" ? "The run has failed." : `The run has failed: ${why}`);
}

function refusal(message: string, hint?: string): Refusal {
  return new Refusal({ code: "run_not_completed", message }, hint);
}

export function drawnOnce(tree: Tree, { terminal, typed }: Pick<Watching, "terminal" | "typed">): readonly string[] {
  return fitLines(drawRun(tree, { now: Date.now(), typed }), {}, paintWith(terminal));
}

type Going = { readonly after: string | undefined; readonly each: (event: ShownRunEvent) => void };

/** Hands every event on. Answers with how the run stands at last. */
async function goAlong(watching: Watching, runId: string, { after, each }: Going): Promise<Tree> {
  const { client, signal, isAlone } = watching;
  const leaving = new AbortController();
  const waiting = isAlone ? leaveWhereItWaits(watching, runId, leaving) : undefined;
  const either = AbortSignal.any([signal, leaving.signal]);
  try {
    const events = client.followRun(runId, { signal: either, ...(after !== undefined && { after }) });
    for await (const event of events) each(event);
  } finally {
    leaving.abort();
    await waiting;
  }
  return await readTree(client, runId);
}

function eventLine({ id, at, type, step, path, as, count, until }: ShownRunEvent): string {
  const more = [as, count === undefined ? undefined : `${count} parts`, until == null ? undefined : `until ${until}`];
  return [id, at, type, step ?? path, ...more].filter((word) => word !== undefined && word !== "").join("  ");
}
