// Too many tools confuse a model. A host declares the first tier in full and gives the model a list of the second.
import { identifier, stringList, wholeNumber } from "../coerce.ts";
import { asMap, emptyMap, isMap, seal, type UnknownMap } from "../json.ts";

/** What a model is told about a tool of the second tier. */
type ManifestEntry = { readonly name: string; readonly summary: string; readonly required_fields: readonly string[] };

export type ToolTiers = {
  readonly tier_1: readonly string[];
  readonly tier_2: readonly string[];
  readonly manifest: readonly ManifestEntry[];
};

const USUAL_CAP = 15;

/**
 * Splits tools into two tiers. The first holds at most `hardCap` of them, or as many as the context's
 * `tool_tier_hard_cap` says: those the context asks for, then the most used, then mandatory ones, then the rest in order.
 */
export function resolve(
  tools: UnknownMap,
  context: UnknownMap = emptyMap,
  {
    topUsed,
    hardCap,
  }: {
    /** The most used tools of the workspace, most used first. */
    readonly topUsed?: unknown;
    readonly hardCap?: unknown;
  } = {},
): ToolTiers {
  const definitions = new Map<string, UnknownMap>();
  for (const [name, value] of Object.entries(asMap(tools) ?? emptyMap)) {
    const definition = asMap(value);
    if (definition) definitions.set(name, definition);
  }
  const names = [...definitions.keys()];
  const mandatory = names.filter((name) => definitions.get(name)?.mandatory === true);
  const ranked = new Set([...stringList(context.tier_1_tools), ...stringList(topUsed), ...mandatory, ...names]);
  const cap = wholeNumber(context.tool_tier_hard_cap, 1) ?? wholeNumber(hardCap, 1) ?? USUAL_CAP;
  const first = new Set([...ranked].filter((name) => definitions.has(name)).slice(0, cap));
  const others = [...definitions].filter(([name]) => !first.has(name));
  return seal({
    tier_1: seal([...first]),
    tier_2: seal(others.map(([name]) => name)),
    manifest: seal(others.map(([name, definition]) => manifestEntry(name, definition))),
  });
}

function manifestEntry(name: string, { description, parameters }: UnknownMap): ManifestEntry {
  const given = isMap(parameters) ? parameters.required : undefined;
  const required: readonly unknown[] = Array.isArray(given) ? given : [given];
  return seal({
    name,
    summary: label(description),
    required_fields: seal([...new Set(required.map(label))].filter(Boolean)),
  });
}

function label(value: unknown): string {
  return identifier(value) ?? "";
}
