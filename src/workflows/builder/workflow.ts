// Workflows in plain TypeScript. What is written here becomes the spec that a file would hold, and nothing else runs it.
import { isTruthyText } from "../../contracts/coerce.ts";
import { type Json, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { checkWorkflow } from "../../contracts/workflows/check-workflow.ts";
import type { ReadSchema, ToolSchema } from "../../threads/schemas/tool-schema.ts";
import type { BuiltWorkflow } from "../steps/built-workflow.ts";
import { type AcceptedInputs, declaredInputs, type GivenInputs, readInputs } from "./inputs.ts";
import { type Needs, nestedBy, readNeeds } from "./needed.ts";
import { describing, invalid, type Place } from "./place.ts";
import { type Fields, type Reference, reachable, reference, root } from "./reference.ts";
import type { Step, StepKind } from "./step.ts";
import {
  append,
  describeList,
  hasStep,
  type Listed,
  type NewId,
  type NoOutputs,
  newList,
  type References,
  type ScopeOf,
  type StepList,
  type Steps,
} from "./step-list.ts";
import type { StepOptions } from "./step-options.ts";
import { written } from "./written.ts";

export type WorkflowAbout<Schema extends ToolSchema> = {
  /** What it takes in: zod, any Standard Schema, or JSON Schema. */
  readonly inputs?: Schema;
  readonly version?: string;
  /** What starts it, as in a spec. */
  readonly triggers?: readonly JsonMap[];
  readonly meta?: JsonMap;
};

/** What the steps of a workflow are described with, beside the steps before them. */
export type InputScope<Inputs> = { readonly inputs: Fields<Inputs> };

/** What the steps that follow a failure are described with. A step that has not run comes to null. */
export type FailureScope<Inputs, Outputs> = InputScope<Inputs> & {
  readonly steps: References<Outputs, null>;
  readonly error: Reference<{ readonly code: string; readonly message: string; readonly data?: Json }>;
};

/** A workflow without steps, which cannot run yet. */
export interface NewWorkflow<Inputs, Given, Outputs = NoOutputs> {
  /** Adds a step. It can refer to those before it. Throws `invalid_workflow` for what cannot stand in a spec. */
  step<const Id extends string, Output, Kind extends StepKind>(
    id: NewId<Id, Outputs>,
    step: Step<Output, Kind> | ((scope: ScopeOf<InputScope<Inputs>, Outputs>) => Step<Output, Kind>),
    options?: StepOptions<Output, Kind, ScopeOf<InputScope<Inputs>, Outputs>>,
  ): Workflow<Inputs, Given, Outputs & { readonly [Key in Id]: Output }, Output>;
}

/** What a run of a workflow comes to. */
export type RunOutput<Outputs, Last> = { readonly steps: Outputs; readonly last: Last };

/** A workflow. It never changes: `step` returns a longer one. */
export interface Workflow<Inputs, Given, Outputs, Last = unknown>
  extends NewWorkflow<Inputs, Given, Outputs>,
    BuiltWorkflow<Given, RunOutput<Outputs, Last>> {
  /** Adds what runs once after the run has failed; nothing can be added behind it. */
  onFailure(
    steps: (failure: Steps<FailureScope<Inputs, Outputs>>) => Listed<unknown, unknown>,
  ): BuiltWorkflow<Given, RunOutput<Outputs, Last>>;
}

/** Begins a workflow. Throws `invalid_workflow` when its id or inputs cannot be used. */
export function workflow<const Schema extends ToolSchema = { readonly properties: NoOutputs }>(
  id: string,
  about: WorkflowAbout<Schema> = {},
): NewWorkflow<AcceptedInputs<Schema>, GivenInputs<Schema>> {
  const owner = {};
  const place: Place = {
    name: String(id),
    inputs: {},
    owners: new Set(),
    isTaken: () => false,
    variables: new Set(),
    mayUndo: true,
  };
  return describing(place, () => {
    const { inputs, ...more } = about;
    const schema = inputs === undefined ? undefined : readInputs(inputs);
    const scope = { inputs: root("inputs", (name) => reference(place.inputs, `inputs.${reachable("inputs", name)}`)) };
    if (!isTruthyText(id)) throw invalid("a workflow needs an id");
    const declared = schema && { inputs: declaredInputs(schema) };
    const base = snapshotMap(written({ id, ...more, ...declared }));
    // The interface says what the functions below check.
    return begun(newList(place, owner, scope), { base, schema }) as NewWorkflow<
      AcceptedInputs<Schema>,
      GivenInputs<Schema>
    >;
  });
}

type About = { readonly base: JsonMap; readonly schema: ReadSchema | undefined };

type AnyStep = (id: unknown, given: unknown, options?: unknown) => object;

function begun(list: StepList, about: About): { readonly step: AnyStep } {
  return { step: (id, given, options) => grown(append(list, id, given, options), about) };
}

function grown(list: StepList, about: About): object {
  const { step } = begun(list, about);
  const onFailure = (describe: unknown) => built(list, about, { after: followUp(list, describe) });
  return built(list, about, { more: { step, onFailure } });
}

type More = { readonly after?: StepList; readonly more?: object };

/** The spec is made when it is first asked for: a workflow of many steps was as many workflows before. */
function built(list: StepList, about: About, { after, more }: More): BuiltWorkflow {
  let spec: JsonMap | undefined;
  let needs: Needs | undefined;
  const needed = () => {
    needs ??= describing(list.place, () => readNeeds([...list.needs, ...(after?.needs ?? [])]));
    return needs;
  };
  return Object.freeze({
    ...more,
    inputs: about.schema,
    get spec() {
      spec ??= specOf(list, about.base, after, needed());
      return spec;
    },
    get functions() {
      return needed().functions;
    },
    get stepTypes() {
      return needed().stepTypes;
    },
    get workflows() {
      return needed().workflows;
    },
  });
}

function followUp(before: StepList, describe: unknown): StepList {
  const { scope, steps } = before;
  const place = { ...before.place, mayUndo: false, isTaken: (id: string) => hasStep(before, id) };
  return describing(place, () => {
    const owner = {};
    const known = steps.map(({ id }) => String(id));
    return describeList(newList(place, owner, { ...scope, error: reference(owner, "vars.error") }, known), describe);
  });
}

function specOf({ steps }: StepList, base: JsonMap, after: StepList | undefined, needs: Needs): JsonMap {
  const raw = snapshotMap({ ...base, steps, ...(after && { on_failure: after.steps }) });
  const { stepTypes, workflows } = needs;
  const [error] = checkWorkflow(raw, { stepTypes, workflows: nestedBy(workflows) }).errors;
  if (error) throw invalid(`${String(base.id)}, at ${error.path} of its spec: ${error.message}`);
  return raw;
}
