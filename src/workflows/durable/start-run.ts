// Starts a run: everything is checked first, and then the run is there with its inputs, or not at all.

import { callerIdentity } from "../../abilities/caller-identity.ts";
import type { StoredSubject } from "../../backend/subject-store.ts";
import { sha256, sortedText } from "../../contracts/canonical-json.ts";
import { truthy } from "../../contracts/coerce.ts";
import { holdfastError } from "../../contracts/error.ts";
import { type JsonMap, snapshotMap, type UnknownMap } from "../../contracts/json.ts";
import { isName } from "../../contracts/storable-name.ts";
import { conversationOwner } from "../../contracts/trust/conversation-owner.ts";
import * as principals from "../../contracts/trust/principal.ts";
import { checkWorkflow } from "../../contracts/workflows/check-workflow.ts";
import * as workspaces from "../../contracts/workspace.ts";
import { checkFields, checkName } from "../../threads/check-arguments.ts";
import { stored } from "../../threads/subject.ts";
import type { BuiltWorkflow } from "../steps/built-workflow.ts";
import { checkInputs } from "./check-inputs.ts";
import { checkOptions } from "./check-options.ts";
import { missingHere } from "./check-start.ts";
import { isBuilt, type KnownWorkflow, knownWorkflows } from "./known-workflows.ts";
import { newRun, type Started, writeRun } from "./new-run.ts";
import { invalidInputs, invalidSpec, workflowNotFound } from "./run-errors.ts";
import type { RunHost } from "./run-host.ts";

export type StartOptions = {
  /** The same start under the same key is the same run; another one under it throws `workflow_key_taken`. */
  readonly key?: string;
  readonly tags?: readonly string[];
  /** As whom the steps of the run act; the program itself unless given. */
  readonly principal?: UnknownMap;
  readonly workspace?: UnknownMap;
  /** The steps behind one that failed are carried out all the same. The run has failed nevertheless. */
  readonly continueOnError?: boolean;
  /** Kept in the record of the run. */
  readonly metadata?: UnknownMap;
  readonly evidenceRefs?: readonly UnknownMap[];
  readonly artifacts?: readonly UnknownMap[];
  readonly logs?: readonly UnknownMap[];
};

const FIELDS = [
  "key",
  "tags",
  "principal",
  "workspace",
  "continueOnError",
  "metadata",
  "evidenceRefs",
  "artifacts",
  "logs",
];

/**
 * Throws `workflow_not_found`, `workflow_spec_invalid` with everything that is wrong or missing here, `workflow_inputs_invalid` and
 * `workflow_key_taken`; then there is no run.
 */
export async function startRun(
  host: RunHost,
  given: string | BuiltWorkflow | JsonMap,
  inputs: unknown,
  options: StartOptions = {},
): Promise<Started> {
  checkFields("options", options, FIELDS);
  const { key, tags = [], continueOnError = false, metadata, evidenceRefs, artifacts, logs } = options;
  if (key !== undefined) checkName("key", key);
  if (!Array.isArray(tags)) throw holdfastError("invalid_argument", "tags must be a list of names.");
  for (const tag of tags) checkName("tags", tag);
  const known = await checkedWorkflow(host, given);
  const principal = principalOf(options);
  const { functions, stepTypes = [] } = known;
  const code = { functions: { ...host.functions, ...functions }, stepTypes: [...host.stepTypes, ...stepTypes] };
  const missing = await missingHere(host, known.spec, code, principal);
  if (missing.length > 0) throw invalidSpec(missing);
  const checked = await checkInputs(known, snapshotMap(inputs));
  if (checked.refused) throw invalidInputs(checked.refused);
  const subject = subjectFor(principal, options);
  const made = newRun(host, {
    ...{ workflow: known.spec, inputs: checked.inputs, tags, continueOnError: truthy(continueOnError) },
    ...{ subject, user_id: principal.acting_user_id > 0 ? String(principal.acting_user_id) : null },
    key: key === undefined ? null : sha256(`${callerOf(principal)}\n${key}`),
    notes: {
      ...(metadata && { metadata: snapshotMap(metadata) }),
      ...(evidenceRefs && { evidence_refs: evidenceRefs.map(snapshotMap) }),
      ...(artifacts && { artifacts: artifacts.map(snapshotMap) }),
      ...(logs && { logs: logs.map(snapshotMap) }),
    },
  });
  return await writeRun(host, made);
}

/** A workflow that is known by its id, or one that comes with the start. */
async function checkedWorkflow(host: RunHost, given: string | BuiltWorkflow | JsonMap): Promise<KnownWorkflow> {
  if (typeof given === "string") {
    const known = isName(given) ? host.workflows.find(given) : undefined;
    if (!known) throw workflowNotFound(given);
    return known;
  }
  const raw = isBuilt(given) ? given.spec : given;
  const { errors } = checkWorkflow(raw, checkOptions(host, isBuilt(given) ? given.stepTypes : []));
  if (errors.length > 0) throw invalidSpec(errors);
  const all = knownWorkflows([given]);
  const known = all.at(-1);
  if (!known) throw workflowNotFound("");
  // What its steps run is found by the id of the workflow: what comes with the start takes the place of what was there.
  for (const each of all) if (each.source === "program") host.workflows.add(each);
  return known;
}

function principalOf({ principal }: StartOptions): principals.Principal {
  return principal === undefined ? principals.system("workflow") : principals.fromArray(principal);
}

function subjectFor(principal: principals.Principal, { workspace }: StartOptions): StoredSubject {
  const where = workspace === undefined ? null : workspaces.normalize(workspace);
  return stored({ principal, workspace: where, owner: conversationOwner(principal), context: "workflow", consent: {} });
}

/** Two callers never meet under the same key. */
function callerOf(principal: principals.Principal): string {
  return sortedText(callerIdentity(principal));
}
