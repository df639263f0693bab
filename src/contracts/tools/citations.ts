// Where a tool's answer came from: a list of small maps in its metadata. Hosts add fields of their own to a citation, and
// those pass through, except for what a model or a browser must never see of who asked. What a citation says about access
// explains; it permits nothing.
import { numeric, trim } from "../coerce.ts";
import {
  emptyMap,
  isContainer,
  isEmpty,
  isMap,
  type Json,
  type JsonMap,
  seal,
  snapshot,
  snapshotMap,
} from "../json.ts";
import { safeMetadata } from "../trust/safe-principal.ts";

const textFields = [
  "source",
  "source_id",
  "item_id",
  "fragment_id",
  "source_title",
  "source_url",
  "excerpt",
] as const satisfies readonly string[];

const knownFields: ReadonlySet<string> = new Set([
  ...textFields,
  ...["score", "access_status", "restriction_reason", "principal"],
]);

const accessStatuses: ReadonlySet<string> = new Set(["allowed", "denied", "partial", "source_restricted"]);

/** The usable citations of a list, in order; anything but a list has none. */
export function normalize(value: unknown): readonly JsonMap[] {
  const given = snapshot(value);
  const citations: JsonMap[] = [];
  if (Array.isArray(given)) {
    for (const item of given) {
      const citation = isMap(item) ? normalizeOne(item as JsonMap) : emptyMap;
      if (!isEmpty(citation)) citations.push(citation);
    }
  }
  return seal(citations);
}

/** The metadata with its `citations`, where it has the field, normalised; anything but a map becomes an empty one. */
export function normalizeMetadata(value: unknown): JsonMap {
  if (!isMap(value)) return emptyMap;
  const metadata = snapshotMap(value);
  if (!Object.hasOwn(metadata, "citations")) return metadata;
  return seal({ ...metadata, citations: normalize(metadata.citations) });
}

function normalizeOne(given: JsonMap): JsonMap {
  const citation: Record<string, Json> = {};
  for (const key of Object.keys(given)) {
    const item = given[key];
    if (item !== undefined && !knownFields.has(key) && !isPrivate(key)) citation[key] = withoutPrivate(item);
  }
  Object.assign(citation, accessOf(given));
  for (const field of textFields) {
    const text = textOf(given[field]);
    if (text !== "") citation[field] = text;
  }
  const score = numeric(given.score);
  if (score !== undefined) citation.score = score;
  return seal(citation);
}

/** Whether the source could be read, why not, and by whom as far as that may be told. */
function accessOf({ access_status, restriction_reason, principal }: JsonMap): JsonMap {
  const status = textOf(access_status);
  const reason = textOf(restriction_reason);
  return {
    ...(accessStatuses.has(status) && { access_status: status }),
    ...(reason !== "" && { restriction_reason: reason }),
    ...(isMap(principal) && !isEmpty(principal) && { principal: safeMetadata(principal) }),
  };
}

// The parts of a principal or a request that are nobody else's business, and what opens doors.
const PRIVATE =
  /^(?:token|token(?:id|hash|prefix|label)s?|ownerkey|requestmetadata|audienceclaims|bindings?|bindingclaims|callercontext|capabilityceiling|(?:allowed|denied)?capabilities)$|(?:access|auth|refresh|bearer|raw|session)token|authorization|cookie|nonce|credential|password|secret|apikey|privatekey/;

function isPrivate(key: string): boolean {
  return PRIVATE.test(key.replace(/[_-]+/g, "").toLowerCase());
}

/** The value without private fields at any depth, and with any principal in it cut down to what may be told. */
function withoutPrivate(value: Json): Json {
  if (!isContainer(value)) return value;
  if (!isMap(value)) return seal(value.map(withoutPrivate));
  const kept = Object.entries(value).filter(([key]) => !isPrivate(key));
  return seal(
    Object.fromEntries(
      kept.map(([key, item]) => [key, key === "principal" && isMap(item) ? safeMetadata(item) : withoutPrivate(item)]),
    ),
  );
}

function textOf(value: Json | undefined): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? trim(value) : "";
}
