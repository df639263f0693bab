// What operators do with runs of workflows: ask why one does not go on, and delete those that ended long ago.
import { isMap } from "../../contracts/json.ts";
import { checkNumber } from "../../threads/check-arguments.ts";
import type { Pruned, PrunePage } from "../../threads/housekeeping.ts";
import type { RunHost } from "../durable/run-host.ts";
import { explainRun, type RunExplanation } from "./explain-run.ts";
import { prunePage, pruneRuns } from "./prune-runs.ts";
import { readRunFacts } from "./read-run-facts.ts";

export type RunDiagnosis = RunExplanation & { readonly run_id: string };

export interface RunCare {
  /** Why a run does not go on, in a sentence, and what to type about it. Throws `workflow_run_not_found`. */
  diagnose(id: string): Promise<RunDiagnosis>;
  /**
   * Deletes the runs without a parent that ended so long ago, with everything below them; answers with their ids. A run stays
   * while anything below it is live. `dryRun`: those that would be, without what stands below them.
   */
  prune(options: { readonly idleMs: number; readonly dryRun?: boolean }): Promise<readonly string[]>;
  /** The same for some of them at a time: many take long. */
  prunePage(page: PrunePage): Promise<Pruned>;
}

export function createRunCare(host: RunHost): RunCare {
  return {
    async diagnose(id) {
      return { run_id: id, ...explainRun(await readRunFacts(host, id)) };
    },
    async prune(given) {
      const { idleMs, dryRun = false } = isMap(given) ? given : { idleMs: Number.NaN };
      checkNumber("idleMs", idleMs);
      return await pruneRuns(host.threads, idleMs, { dryRun });
    },
    async prunePage(page) {
      checkNumber("idleMs", page.idleMs);
      return await prunePage(host.threads, page);
    },
  };
}
