// The envelope in which every kind of run hands over what came of it: package, workflow or task.
import { scalarText, trim, trimmed } from "../coerce.ts";
import { asMap, isEmpty, isMap, type Json, type JsonMap, seal, snapshotMap } from "../json.ts";

const statuses = [
  "pending",
  "queued",
  "running",
  "cancelling",
  "cancelled",
  "succeeded",
  "failed",
  "skipped",
  "completed",
  "incomplete",
  "approval_required",
  "runtime_tool_pending",
  "budget_exceeded",
  "stalled",
  "interrupted",
] as const;

type RunResultStatus = (typeof statuses)[number];

const moments = ["started_at", "ended_at", "updated_at"] as const;

export type RunResult = {
  readonly schema: "agents-api/run-result/v1";
  readonly version: 1;
  readonly run_id: string;
  readonly status: RunResultStatus;
  readonly outputs: JsonMap;
  /** Things the run made, and things that show what it did: where they are, not what is in them. */
  readonly artifact_refs: readonly JsonMap[];
  readonly evidence_refs: readonly JsonMap[];
  readonly logs: readonly JsonMap[];
  readonly replay: JsonMap;
  readonly provenance: JsonMap;
  readonly timestamps: { readonly [moment in (typeof moments)[number]]?: string };
  readonly error: JsonMap;
  readonly cancellation: JsonMap;
  readonly metadata: JsonMap;
};

/** An envelope with every field in shape. Nothing is refused: what is of the wrong kind is empty or left out. */
export function normalize(value: unknown): RunResult {
  const given = snapshotMap(value);
  return seal({
    schema: "agents-api/run-result/v1",
    version: 1,
    run_id: scalarText(given.run_id) ?? "",
    status: runStatus(given.status),
    outputs: snapshotMap(given.outputs ?? given.output),
    artifact_refs: filledMaps(given.artifact_refs, cleanReference),
    evidence_refs: filledMaps(given.evidence_refs, cleanReference),
    logs: filledMaps(given.logs, (log) => log),
    replay: snapshotMap(given.replay),
    provenance: snapshotMap(given.provenance),
    timestamps: timestamps(given),
    error: snapshotMap(given.error),
    cancellation: snapshotMap(given.cancellation),
    metadata: snapshotMap(given.metadata),
  });
}

function runStatus(value: unknown): RunResultStatus {
  const given = trimmed(value)?.toLowerCase();
  return statuses.find((status) => status === given) ?? "running";
}

function filledMaps(value: unknown, clean: (item: JsonMap) => JsonMap): readonly JsonMap[] {
  const items = Array.isArray(value) ? value : [];
  return seal(
    items
      .filter(isMap)
      .map((item) => clean(snapshotMap(item)))
      .filter((item) => !isEmpty(item)),
  );
}

const referenceTexts: ReadonlySet<string> = new Set([
  "type",
  "label",
  "id",
  "url",
  "path",
  "mime_type",
  "sha256",
  "description",
]);

function cleanReference(reference: JsonMap): JsonMap {
  const cleaned: Record<string, Json> = {};
  for (const [key, item] of Object.entries(reference)) {
    const kept = referenceTexts.has(key) ? filledText(item) : item;
    if (kept !== undefined) cleaned[key] = kept;
  }
  return seal(cleaned);
}

// Some callers write the times beside the other fields instead of under `timestamps`.
function timestamps(given: JsonMap): RunResult["timestamps"] {
  const nested = asMap(given.timestamps);
  const known: { [moment in (typeof moments)[number]]?: string } = {};
  for (const moment of moments) {
    const text = filledText(nested?.[moment]) ?? filledText(given[moment]);
    if (text !== undefined) known[moment] = text;
  }
  return seal(known);
}

function filledText(value: unknown): string | undefined {
  return trim(scalarText(value) ?? "") || undefined;
}
