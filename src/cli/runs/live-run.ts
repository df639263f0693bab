// A run as a tree that is drawn over in place until the run has ended. It is looked at whenever something has happened in it, and
// drawn anew as time goes by.
import { Refusal } from "../refusal.ts";
import { drawRun, type TreeLine } from "./draw-run.ts";
import { fitLines } from "./fit-lines.ts";
import { paintWith } from "./paint.ts";
import { isOver, leaveWhereItWaits, pauseFor, readTree, type Tree, type Watching } from "./watching.ts";

/** Between two looks at a run, so that neither the server nor the terminal is busy with nothing else. */
const LOOK_MS = 150;

/** What is shown in seconds changes as often. */
const TICK_MS = 1_000;

/** So often also without news, by which it shows that the server has gone. */
const QUIET_MS = 3_000;

/** Goes on by itself when the server has gone and come back. Answers with how the run stands at last. */
export async function drawAsItGoes(watching: Watching, runId: string): Promise<Tree> {
  const { client, terminal, signal, isAlone } = watching;
  const leaving = new AbortController();
  const news = createNews();
  let tree = await readTree(client, runId);
  let isLost = false;
  let lookedAt = performance.now();
  const either = AbortSignal.any([signal, leaving.signal]);
  const following = followInto(news, watching, runId, either);
  const waiting = isAlone ? leaveWhereItWaits(watching, runId, leaving) : undefined;
  try {
    while (!either.aborted) {
      drawTree(watching, tree, isLost);
      if (!isLost && isOver(tree.run.status)) break;
      await Promise.race([news.next(), pauseFor(TICK_MS, either)]);
      if (news.failure !== undefined) throw news.failure;
      const began = performance.now();
      if (!news.take() && !isLost && began - lookedAt < QUIET_MS) continue;
      const found = await lookAt(watching, runId);
      isLost = found === undefined;
      tree = found ?? tree;
      drawTree(watching, tree, isLost);
      lookedAt = performance.now();
      await pauseFor(Math.max(LOOK_MS, 2 * (lookedAt - began)), either);
    }
    return tree;
  } finally {
    terminal.live?.end();
    leaving.abort();
    await Promise.all([following, waiting]);
  }
}

/** Undefined while the server does not answer. */
async function lookAt({ client }: Watching, runId: string): Promise<Tree | undefined> {
  try {
    return await readTree(client, runId);
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.code === "server_unreachable") return undefined;
    throw thrown;
  }
}

function drawTree({ terminal, typed }: Watching, tree: Tree, isLost: boolean): void {
  const { live } = terminal;
  if (!live) return;
  const lost: readonly TreeLine[] = isLost ? [{ kind: "retrying", depth: 0, text: LOST }] : [];
  const lines = [...drawRun(tree, { now: Date.now(), typed }), ...lost];
  live.draw(fitLines(lines, live.room(), paintWith(terminal)));
}

const LOST = "The server does not answer, and is asked again. The run is kept.";

/** Every event is a reason to look again, and so is the end of them. */
async function followInto(news: News, { client }: Watching, runId: string, signal: AbortSignal): Promise<void> {
  try {
    for await (const _ of client.followRun(runId, { signal })) news.add();
  } catch (thrown) {
    if (!signal.aborted) news.failure = thrown;
  }
  news.add();
}

type News = {
  add(): void;
  /** Whether there was some since the last time. */
  take(): boolean;
  next(): Promise<void>;
  /** Why there will be no more. */
  failure: unknown;
};

function createNews(): News {
  let isNews = false;
  let wake = Promise.withResolvers<void>();
  return {
    failure: undefined,
    add() {
      isNews = true;
      wake.resolve();
    },
    take() {
      const was = isNews;
      isNews = false;
      wake = Promise.withResolvers();
      return was;
    },
    next: () => wake.promise,
  };
}
