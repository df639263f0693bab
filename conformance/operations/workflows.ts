// Workflows: specs, what binds their steps together, the record of a run, and the operations on them.
import * as bindings from "../../src/contracts/workflows/bindings.ts";
import { normalize } from "../../src/contracts/workflows/spec.ts";
import { specHash } from "../../src/contracts/workflows/spec-hash.ts";
import { validate } from "../../src/contracts/workflows/validate.ts";
import { dispatchTick, dispatchWorkflow } from "../scripts/workflow-dispatch.ts";
import { awaitRow, showRecord } from "../scripts/workflow-records.ts";
import { runRegistry, runSchedule } from "../scripts/workflow-registry.ts";
import { controlRuns } from "../scripts/workflow-run-control.ts";
import { aggregateResults, runElsewhere, runOnce, traceRun } from "../scripts/workflow-runs.ts";
import type { Given } from "./given.ts";

export const workflowOperations = {
  "workflow.validate": ({
    spec,
    known_step_types: knownStepTypes,
    known_trigger_types: knownTriggerTypes,
  }: Given<"spec" | "known_step_types" | "known_trigger_types">) => {
    const errors = validate(spec, { knownStepTypes, knownTriggerTypes });
    return { valid: errors.length === 0, errors };
  },
  "workflow.normalizeSpec": ({ spec }: Given<"spec">) => {
    // The raw spec is compared where it is exported, in describe.
    const { raw: _, ...view } = { raw: null, ...normalize(spec) };
    return view;
  },
  "workflow.bind": ({ value, context }: Given<"value" | "context">) => ({ value: bindings.expand(value, context) }),
  "workflow.specHash": ({ spec }: Given<"spec">) => {
    const view = normalize(spec);
    return "raw" in view
      ? { workflow_spec_hash: specHash(view.raw), workflow_spec_version: view.version }
      : { error: view };
  },
  "workflow.runResult": showRecord,
  "workflow.registry": runRegistry,
  "workflow.schedule": runSchedule,
  "workflow.dispatch": dispatchWorkflow,
  "workflow.dispatchScheduled": dispatchTick,
  "workflow.await": awaitRow,
  "workflow.runControl": controlRuns,
  "workflow.run": runOnce,
  "workflow.trace": traceRun,
  "workflow.async": runElsewhere,
  "workflow.aggregate": aggregateResults,
};
