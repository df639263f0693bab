// A thread that was just created: hooks are told before anything happens on it.
import { CommitConflict } from "../../engine/retry-commit.ts";
import { Batch } from "../batch.ts";
import { shownLeft } from "../calls/left-behind.ts";
import type { HeldThread } from "../held-thread.ts";
import type { Host } from "../host.ts";
import { installationSecrets } from "../secrets/installation-secrets.ts";
import { createKnownSecrets } from "../secrets/known-secrets.ts";
import { KeptWrites } from "../state/state-buffer.ts";
import { stateAtRest } from "../state-at-rest.ts";
import { agentOf } from "../thread-run.ts";
import { hooksFor } from "./hook-set.ts";
import { runHook } from "./run-hook.ts";

/** Throws `CommitConflict` once they were told: the thread is read again with what they have left. */
export async function tellBorn(host: Host, held: HeldThread): Promise<void> {
  const born = held.entries.filter(({ kind }) => kind === "born");
  if (born.length === 0) return;
  const agent = agentOf(host, held);
  const prompt = host.registry.promptOf(agent, "a")?.hooks ?? [];
  const buffer = new KeptWrites({ hasRun: false });
  const secrets = createKnownSecrets(installationSecrets(host));
  const state = await stateAtRest(host, held.thread, { buffer, secrets });
  if (!held.isTerminated)
    await runHook(hooksFor(host.registry, { agent: agent.hooks, prompt }), "after_thread_created", { host, state });
  const batch = new Batch({ ...held.from, seqs: [], outer: [] });
  batch.drained.push(...born.map(({ seq }) => seq));
  batch.leave(shownLeft({ writes: buffer.writes, entries: buffer.entries, events: buffer.events }, secrets));
  await held.commit(batch, null, "idle");
  throw new CommitConflict("The thread was told that it exists.");
}
