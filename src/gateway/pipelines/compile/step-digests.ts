// What a step without an id is known by. The number that it is called by is its place in the pipeline, which belongs to
// another step once the pipeline has changed: a job that was queued for it must not be taken for a job of that one.
import { sha256, sortedText } from "../../../contracts/canonical-json.ts";
import { eachStep, type PipelineDraft, type StepDraft } from "../read/draft.ts";

/**
 * By step, for those whose id their author left out: the same for as long as the step does the same and stands behind the same
 * plugins and pipelines.
 */
export function digestSteps({ steps }: Pick<PipelineDraft, "steps">): ReadonlyMap<StepDraft, string> {
  const digests = new Map<StepDraft, string>();
  let before = "";
  for (const step of eachStep(steps)) {
    if (step.id === undefined) digests.set(step, digest(before, definition(step)));
    before = digest(before, outline(step));
  }
  return digests;
}

/** Of a step within a called pipeline, whose id begins with that of the call. Undefined where the author has given both. */
export function digestWithin(call: string | undefined, step: string | undefined): string | undefined {
  return call === undefined || step === undefined ? (call ?? step) : digest(call, step);
}

/** What it does. A queued job may be given more time, or more attempts. */
function definition({ predicate, action }: StepDraft): string {
  switch (action.kind) {
    case "uses": {
      const { timeout_ms: _, retry: _retry, on_error: _onError, ...what } = action;
      return sortedText({ ...what, predicate });
    }
    case "call":
      return sortedText({ ...action, predicate });
    default:
      return sortedText({ kind: action.kind, predicate });
  }
}

function outline({ action }: StepDraft): string {
  switch (action.kind) {
    case "uses":
      return sortedText([action.kind, action.plugin]);
    case "call":
      return sortedText([action.kind, action.pipeline]);
    default:
      return sortedText([action.kind]);
  }
}

function digest(...parts: readonly string[]): string {
  return sha256(sortedText(parts)).slice(0, 32);
}
