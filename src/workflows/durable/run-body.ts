// What a run was started with: sealed with its row, because specs and inputs may hold anything.
import type { JsonMap } from "../../contracts/json.ts";
import { typedSpec, type WorkflowSpec } from "../../contracts/workflows/spec.ts";
import type { Sealing } from "../../threads/secrets/sealing.ts";

/** What is said with a run, and kept in its record. */
export type RunNotes = {
  readonly metadata?: JsonMap;
  readonly evidence_refs?: readonly JsonMap[];
  readonly artifacts?: readonly JsonMap[];
  readonly logs?: readonly JsonMap[];
};

export type RunBody = {
  /** As it was when the run began: a run goes on under the spec that it began with. */
  readonly spec: JsonMap;
  readonly inputs: JsonMap;
  readonly notes: RunNotes;
  /** Whether the steps of the run go on behind one of them that failed. */
  readonly continue_on_error: boolean;
  /** How many runs stand above it, those included that it does not end with. */
  readonly depth?: number;
  /** Why the run cannot begin, where that is known already. */
  readonly refused?: JsonMap;
  /** The step that it begins with: steps before it were carried out by the run that it repeats. */
  readonly starts_at?: number;
};

export type OpenedBody = RunBody & { readonly typed: WorkflowSpec };

export function sealRunBody(sealing: Pick<Sealing, "seal">, runId: string, body: RunBody): string {
  return sealing.seal(JSON.stringify(body), runId);
}

export function openRunBody(sealing: Pick<Sealing, "open">, runId: string, sealed: string): OpenedBody {
  const body = JSON.parse(sealing.open(sealed, runId)) as RunBody;
  return { ...body, typed: typedSpec(body.spec) };
}
