// A run of a workflow that comes with a runtime package: what is asked of whoever can run it, and what comes back.
import { identifier, trimmed } from "../coerce.ts";
import * as runResult from "../conversation/run-result.ts";
import { asMap, isEmpty, type JsonMap, seal, snapshotMap } from "../json.ts";
import { type OperationError, operationError } from "../operation-error.ts";

/** Which workflow of which package to run, and with what. */
export type PackageRunRequest = {
  readonly package: JsonMap;
  readonly workflow: JsonMap;
  readonly input: JsonMap;
  readonly options: JsonMap;
  readonly metadata: JsonMap;
  readonly replay: JsonMap;
};

const statuses = ["pending", "running", "succeeded", "failed", "cancelled", "skipped"] as const;

export type PackageRunResult = {
  readonly status: (typeof statuses)[number];
  readonly run_id: string;
  readonly result: JsonMap;
  readonly error: JsonMap;
  readonly artifact_refs: readonly JsonMap[];
  readonly evidence_refs: readonly JsonMap[];
  readonly metadata: JsonMap;
  readonly replay: JsonMap;
};

/** A request with every field in shape; a refusal when it does not say which package or which workflow. */
export function request(input: unknown): PackageRunRequest | OperationError {
  const given = snapshotMap(input);
  const packaged = snapshotMap(given.package);
  const workflow = snapshotMap(given.workflow);
  // A slug that is there speaks for the package even when it is blank; the id stands in only where there is none.
  if (!isFilled(packaged.source) && !isFilled(packaged.slug ?? packaged.id)) {
    return operationError(
      "agents_runtime_package_run_missing_package",
      "The package needs a source, a slug or an id that is not blank.",
    );
  }
  if (!isFilled(workflow.id) && isEmpty(snapshotMap(workflow.spec))) {
    return operationError(
      "agents_runtime_package_run_missing_workflow",
      "The workflow needs an id that is not blank, or a map as its spec that is not empty.",
    );
  }
  return seal({
    package: packaged,
    workflow,
    input: snapshotMap(given.input),
    options: snapshotMap(given.options),
    metadata: snapshotMap(given.metadata),
    replay: snapshotMap(given.replay),
  });
}

/** What came of a run. A status that is not spelled exactly as one of the six reads as success. */
export function result(value: unknown): PackageRunResult {
  const given = snapshotMap(value);
  const stated = trimmed(given.status);
  return seal({
    status: statuses.find((status) => status === stated) ?? "succeeded",
    run_id: identifier(given.run_id) ?? "",
    result: snapshotMap(given.result),
    error: snapshotMap(given.error),
    artifact_refs: maps(given.artifact_refs),
    evidence_refs: maps(given.evidence_refs),
    metadata: snapshotMap(given.metadata),
    replay: snapshotMap(given.replay),
  });
}

/** The same in the envelope that every kind of run shares. */
export function resultEnvelope(value: unknown): runResult.RunResult {
  const { result: outputs, ...shared } = result(value);
  return runResult.normalize({ ...shared, outputs });
}

function isFilled(value: unknown): boolean {
  return identifier(value) !== undefined;
}

function maps(value: unknown): readonly JsonMap[] {
  const items = Array.isArray(value) ? value : [];
  return seal(items.filter((item) => asMap(item) !== undefined).map(snapshotMap));
}
