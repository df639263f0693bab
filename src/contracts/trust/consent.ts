// What a person has agreed to, one operation at a time: to be remembered, to have the conversation kept or shared, to be
// handed to a human. No agreement implies another, and silence is a no.
import { lowered, scalarText, trim } from "../coerce.ts";
import { isMap, type Json, type JsonMap, seal, snapshotMap, type UnknownMap } from "../json.ts";
import { userId } from "./user-id.ts";

export const operations = [
  "store_memory",
  "use_memory",
  "store_transcript",
  "share_transcript",
  "escalate_to_human",
] as const satisfies readonly string[];

export type ConsentOperation = (typeof operations)[number];

/** An answer to be stored beside whatever it allowed or refused. */
export type ConsentDecision = {
  readonly allowed: boolean;
  /** Empty for an operation that nobody knows. */
  readonly operation: ConsentOperation | "";
  /** A word for programs, such as `explicit_consent`. */
  readonly reason: string;
  readonly audit_metadata: JsonMap;
};

/** How a product decides; `decide` is the policy that holds unless it gives one of its own. */
export type ConsentPolicy = (
  operation: ConsentOperation,
  context: UnknownMap,
) => ConsentDecision | Promise<ConsentDecision>;

/** The first of these that says something tells what kind of request this is. */
const modeFields = ["mode", "context", "request_kind", "request_context"] as const satisfies readonly string[];

/** Somebody is there who can be asked. */
const interactiveModes: ReadonlySet<string> = new Set(["chat", "interactive", "rest"]);

/** The operation that a word names, whatever its case and the space around it, else the one that the fallback names. */
export function normalizeOperation(value: unknown, fallback?: unknown): ConsentOperation | null {
  return operationOf(value) ?? operationOf(fallback) ?? null;
}

/** A decision with its reason and the names in its metadata spelt for programs. */
export function decision(given: {
  readonly allowed: boolean;
  readonly operation: unknown;
  readonly reason?: unknown;
  readonly audit_metadata?: unknown;
}): ConsentDecision {
  const allowed = given.allowed === true;
  return seal({
    allowed,
    operation: normalizeOperation(given.operation) ?? "",
    reason: given.reason == null ? (allowed ? "allowed" : "denied") : nameOf(scalarText(given.reason) ?? ""),
    audit_metadata: auditMetadata(snapshotMap(given.audit_metadata)),
  });
}

/**
 * The careful policy: a yes needs somebody who is there and has said yes to this very operation. Only `true` is a yes,
 * in the context under the operation's own name or in its `consent` map; a boolean under the name comes first.
 */
export function decide(asked: ConsentOperation, context: UnknownMap): ConsentDecision {
  const operation = normalizeOperation(asked);
  const mode = modeOf(context);
  const interactive = context.interactive === true || interactiveModes.has(lowered(mode));
  // Nobody can have agreed to what nobody knows, whatever a context says under its name.
  const allowed = interactive && operation !== null && isGiven(operation, context);
  return decision({
    allowed,
    operation,
    reason: reasonOf(allowed, interactive),
    audit_metadata: {
      policy: "default",
      operation: operation ?? "",
      interactive,
      mode,
      agent_id: scalarText(context.agent_id) ?? "",
      user_id: userId(context.user_id),
    },
  });
}

function reasonOf(allowed: boolean, interactive: boolean): string {
  if (allowed) return "explicit_consent";
  return interactive ? "explicit_consent_missing" : "non_interactive_default_denied";
}

function isGiven(operation: ConsentOperation, context: UnknownMap): boolean {
  const own = Object.hasOwn(context, operation) ? context[operation] : undefined;
  if (typeof own === "boolean") return own;
  const { consent } = context;
  return isMap(consent) && Object.hasOwn(consent, operation) && consent[operation] === true;
}

function modeOf(context: UnknownMap): string {
  for (const field of modeFields) {
    const mode = scalarText(context[field]) ?? "";
    if (mode !== "") return mode;
  }
  return "";
}

function operationOf(value: unknown): ConsentOperation | undefined {
  const name = lowered(trim(scalarText(value) ?? ""));
  return operations.find((operation) => operation === name);
}

function auditMetadata(given: JsonMap): JsonMap {
  const metadata: Record<string, Json> = {};
  for (const [key, item] of Object.entries(given)) metadata[nameOf(key)] = auditValue(item);
  return seal(metadata);
}

function auditValue(item: Json): Json {
  if (Array.isArray(item)) return seal(item.map(auditValue));
  return isMap(item) ? auditMetadata(item as JsonMap) : item;
}

function nameOf(words: string): string {
  return trim(lowered(words).replace(/[^a-z0-9_-]+/g, "_"), "_-");
}
