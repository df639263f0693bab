// A turn of one run while it is taken: what it will leave in the workspace is collected, and written at its end.
import type { Escalation } from "../../contracts/gateway/agent/agentic-event.ts";
import type { RunFacts } from "../../contracts/gateway/agent/agentic-run.ts";
import type { OkResponse } from "../../contracts/gateway/protocol/response.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { answerChange, type LogSubject, type RunChange, traceLine } from "./answer.ts";
import { completeRun, escalateRun } from "./end-run.ts";
import type { Turn } from "./turn-ports.ts";
import type { NoteFile, Phase, RunWorkspace, TraceLine } from "./workspace/workspace.ts";

/** The step that a trace line is about, and which request of it. */
export type StepAttempt = { readonly step: number; readonly attempt: number };

export type RunDraft = {
  readonly workspace: RunWorkspace;
  readonly run_id: string;
  /** Adds a line to the trace. */
  note(phase: Phase, kind: string, summary: string, at?: StepAttempt): void;
  /** Replaces a file of the workspace. */
  write(file: NoteFile, content: string): void;
  /** Writes what was collected, and answers. */
  end(change: RunChange): Promise<OkResponse>;
  complete(
    run: RunFacts,
    end: { readonly outcome: string; readonly artifacts: readonly string[] },
  ): Promise<OkResponse>;
  escalate(phase: Phase, run: RunFacts, escalation: Escalation): Promise<OkResponse>;
};

/** `steps_taken` is the last step that a result has come for; `extra` is stored beside the runs. */
export function draftRun(
  turn: Turn,
  about: {
    readonly workspace_ref: string;
    readonly subject: LogSubject & { readonly run_id: string };
    readonly at: StepAttempt;
    readonly steps_taken: number;
    readonly extra?: JsonMap;
  },
): RunDraft {
  const { subject, at, steps_taken, extra } = about;
  const { run_id } = subject;
  const workspace = turn.ports.workspaces.of(about.workspace_ref);
  const files: { [file in NoteFile]?: string } = {};
  const trace: TraceLine[] = [];
  const note: RunDraft["note"] = (phase, kind, summary, { step, attempt } = at) => {
    trace.push(traceLine(turn, { run_id, step, attempt, phase, kind, summary }));
  };
  const end = (change: RunChange) => answerChange(turn, workspace, change, { files, trace }, extra);
  return {
    workspace,
    run_id,
    note,
    end,
    write(file, content) {
      files[file] = content;
    },
    complete: async (run, { outcome, artifacts }) =>
      await end(await completeRun(turn, workspace, subject, run, { outcome, artifacts, steps_taken })),
    async escalate(phase, run, escalation) {
      note(phase, "escalated", escalation.reason);
      return await end(escalateRun(turn, subject, run, escalation));
    },
  };
}
