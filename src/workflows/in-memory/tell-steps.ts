// Tells a recorder how the steps of a run ended, one after another.
import { type JsonMap, seal, snapshotMap } from "../../contracts/json.ts";
import * as runRecord from "../../contracts/workflows/run-record.ts";
import type { RunRecorder } from "../../contracts/workflows/run-recorder.ts";
import type { Step } from "../machine/next.ts";
import { below, parentOf, ROOT } from "../machine/path.ts";
import { stepRecords } from "../machine/run-view.ts";
import { bodyOf, newWorking, stepAt, type Working } from "../machine/working.ts";
import { ofHost } from "./host-fault.ts";

/** To be called with each step of the machine. The record of a step of the run is made once, however many follow it. */
export function teller(record: runRecord.WorkflowRun, working: Working, recorder: RunRecorder) {
  const made: JsonMap[] = [];
  return (step: Step): Promise<void> | undefined => {
    // What ended while the run was cancelled is told with the run's own end.
    if (step.state.isCancelling || step.state.ending === "cancelled") return undefined;
    const positions = endedSteps(step);
    if (positions.length === 0) return undefined;
    const told = positions.map((position) => {
      const isFirst = made.length === 0;
      made.push(...(isFirst ? stepRecords(working, position + 1) : recordAt(working, position)).map(snapshotMap));
      return runRecord.patch(record, { steps: seal([...made]) });
    });
    return tell(told, recorder);
  };
}

async function tell(runs: readonly runRecord.WorkflowRun[], recorder: RunRecorder): Promise<void> {
  for (const run of runs) await ofHost(() => recorder.update(run));
}

/** The record of one step: it is made as that of a run which has no other. */
function recordAt(working: Working, position: number): readonly JsonMap[] {
  const path = below(ROOT, position);
  const bodies = new Map([[below(ROOT, 0), bodyOf(working, path)]]);
  return stepRecords(newWorking({ steps: [stepAt(working, path)], bodies }), 1);
}

/** The positions of the steps of the run itself that ended in this step of the machine. */
function endedSteps({ facts }: Step): number[] {
  return facts.flatMap((fact) =>
    fact.type === "step.ended" && parentOf(fact.path) === ROOT ? [Number(fact.path)] : [],
  );
}
