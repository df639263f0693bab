// What a runtime outside the host may run by itself: an envelope that lists tools and where each of them belongs.
import { nonEmptyString, trimmed } from "../coerce.ts";
import type { Hooks } from "../hooks.ts";
import { asMap, isContainer, isEmpty, type Json, type JsonMap, seal, snapshotMap, type UnknownMap } from "../json.ts";

type ToolEntry = {
  readonly id: string;
  readonly runtime_tool_id: string;
  /** True when the runtime may run the tool itself: it lives there, and so does everything it may touch. */
  readonly allowed: boolean;
  readonly environment: string;
  readonly capability_scope: string;
  readonly runtime: { readonly environment: string; readonly capability_scope: string };
  readonly execution_location: "sandbox" | "parent";
  readonly transport_visibility: "sandbox" | "parent";
  /** The fields that say the same in older words. */
  readonly legacy_fields: readonly string[];
  readonly source?: string;
};

export type RuntimeToolPolicy = {
  readonly schema: "agents-api/runtime-tool-policy/v1";
  readonly version: 1;
  readonly tools: readonly ToolEntry[];
  readonly context?: JsonMap;
};

const LEGACY_FIELDS = seal(["execution_location", "transport_visibility"]);

/** The envelope for these tools. Tools without a name are left out; of the context only scalar values are kept. */
export function fromTools(tools: UnknownMap, context?: UnknownMap): RuntimeToolPolicy {
  const kept = scalars(context);
  return seal({
    schema: "agents-api/runtime-tool-policy/v1",
    version: 1,
    tools: seal(
      Object.entries(asMap(tools) ?? {}).flatMap(([key, definition]) => entryOf(key, asMap(definition)) ?? []),
    ),
    ...(!isEmpty(kept) && { context: kept }),
  });
}

/** The envelope as the host's filter leaves it: what a host hands to a runtime outside. */
export function policyFor(tools: UnknownMap, context: UnknownMap, hooks: Hooks): UnknownMap | Promise<UnknownMap> {
  return hooks.apply("runtimeToolPolicy", fromTools(tools, context), tools, context);
}

function entryOf(key: string, definition: UnknownMap | undefined): ToolEntry | undefined {
  const id = trimmed(definition?.name) ?? trimmed(key);
  if (definition === undefined || id === undefined) return undefined;
  const stated = asMap(definition.runtime);
  const environment = trimmed(stated?.environment) ?? "control_plane";
  const capability_scope = trimmed(stated?.capability_scope) ?? "control_plane";
  const source = nonEmptyString(definition.source);
  return seal({
    id,
    runtime_tool_id: trimmed(definition.runtime_tool_id) ?? id.replace(/[/-]/g, "_"),
    allowed: environment === "runtime_local" && capability_scope === "runtime_local",
    environment,
    capability_scope,
    runtime: seal({ environment, capability_scope }),
    execution_location: place(environment),
    transport_visibility: place(capability_scope),
    legacy_fields: LEGACY_FIELDS,
    ...(source !== undefined && { source }),
  });
}

function place(value: string): "sandbox" | "parent" {
  return value === "runtime_local" ? "sandbox" : "parent";
}

function scalars(context: UnknownMap | undefined): JsonMap {
  const isScalar = ([, value]: [string, Json]) => value !== null && !isContainer(value);
  return seal(Object.fromEntries(Object.entries(snapshotMap(context)).filter(isScalar)));
}
