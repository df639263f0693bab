// The context of a pipeline instance: values that its steps claim, carried along and never changed.
import { byteLength } from "../../canonical-json.ts";
import { holdfastError } from "../../error.ts";
import { isMap, type Json, type JsonMap } from "../../json.ts";
import { lookUp, parsePath } from "../../predicates/paths.ts";
import type { PipelinePlace } from "../job.ts";
import { jsonEqual } from "../json-equal.ts";
import type { Claim } from "./pipeline-graph.ts";
import type { PipelineScope } from "./pipeline-scope.ts";

// The casts go once src/contracts/error.ts lists the two codes.

/** Of the accumulated JSON text in UTF-8. */
export const MAX_CONTEXT_BYTES = 1024 * 1024;

/** The key that holds what the gateway itself carries along. */
const CONTROL_KEY = "ductile";
const CONTROL_PREFIX = "ductile_";

/** True for a top-level key of the context that belongs to the gateway. */
export function isControlKey(key: string): boolean {
  return key === CONTROL_KEY || key.startsWith(CONTROL_PREFIX);
}

/**
 * The context with the claimed values added at any depth. A value that is there may be claimed again, but not changed:
 * that throws `context_conflict`, naming the path.
 */
export function accreteContext(parent: JsonMap, claims: JsonMap): JsonMap {
  const context = accrete(parent, claims, "");
  const bytes = byteLength(JSON.stringify(context));
  if (bytes <= MAX_CONTEXT_BYTES) return context;
  throw holdfastError(
    "context_too_large",
    `The context would take ${bytes} bytes of JSON; ${MAX_CONTEXT_BYTES} are the most.`,
  );
}

function accrete(parent: JsonMap, claims: JsonMap, above: string): JsonMap {
  const added = Object.entries(claims).map(([key, claimed]): [string, Json] => {
    const path = above === "" ? key : `${above}.${key}`;
    const existing = Object.hasOwn(parent, key) ? parent[key] : undefined;
    if (existing === undefined) return [key, claimed];
    if (isMap(existing) && isMap(claimed)) return [key, accrete(existing as JsonMap, claimed as JsonMap, path)];
    if (jsonEqual(existing, claimed)) return [key, existing];
    throw holdfastError("context_conflict", `The context already has another value at ${path}.`);
  });
  return { ...parent, ...Object.fromEntries(added) };
}

/**
 * The values that the claims of a step take from an event and the context before it. Throws `invalid_baggage` when a
 * source is missing or a namespace is claimed from something other than a map, and `context_conflict` when two claims
 * want one path.
 */
export function collectClaims(claims: readonly Claim[], scope: PipelineScope): JsonMap {
  return claims.reduce<JsonMap>((collected, claim) => accrete(collected, claimedValue(claim, scope), ""), {});
}

function claimedValue(claim: Claim, scope: PipelineScope): JsonMap {
  const value = sourceValue(claim.from, scope);
  if ("path" in claim) return nest(claim.path.split("."), value);
  if (isMap(value)) return nest(claim.namespace.split("."), value as JsonMap);
  throw holdfastError(
    "invalid_baggage",
    `The baggage claims ${claim.from} as the namespace ${claim.namespace}; it is no map.`,
  );
}

function sourceValue(from: string, scope: PipelineScope): Json {
  const root = from.trim();
  if ((root === "payload" || root === "context") && scope[root] !== undefined) return scope[root];
  const path = parsePath(from, ["payload", "context"]);
  const lookup = path === undefined ? undefined : lookUp(scope, path);
  if (lookup?.found) return lookup.value;
  throw holdfastError("invalid_baggage", `The baggage claims ${from}, which is not there.`);
}

function nest(keys: readonly string[], value: Json): JsonMap {
  const [key = "", ...deeper] = keys;
  return Object.fromEntries([[key, deeper.length === 0 ? value : nest(deeper, value)]]);
}

const BAGGAGE_PATH = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** What is wrong with a path or namespace that baggage is claimed under; undefined when nothing is. */
export function baggagePathProblem(path: string): string | undefined {
  if (!BAGGAGE_PATH.test(path)) {
    return `${JSON.stringify(path)} is no baggage path: names of letters, digits and _, joined by dots.`;
  }
  const keys = path.split(".");
  if (keys.includes("__proto__")) return `${JSON.stringify(path)} is no baggage path: __proto__ is not allowed.`;
  if (isControlKey(keys[0] ?? ""))
    return `${JSON.stringify(path)} is no baggage path: ${CONTROL_KEY} belongs to the gateway.`;
  return undefined;
}

/** What a plugin sees as `context`: the accumulated values, and where the job stands. */
export function visibleContext(
  accumulated: JsonMap,
  job: { readonly plugin: string; readonly place: PipelinePlace | null; readonly max_depth?: number | null },
): JsonMap {
  const { plugin, place, max_depth: maxDepth } = job;
  return {
    ...accumulated,
    ductile_plugin: plugin,
    ...(place !== null && {
      ductile_pipeline: place.pipeline,
      ductile_step_id: place.step_id,
      ductile_pipeline_instance_id: place.instance_id,
      ductile_route_depth: place.depth,
      ...(maxDepth !== undefined && maxDepth !== null && { ductile_route_max_depth: maxDepth }),
    }),
  };
}
