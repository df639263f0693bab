// What one run may set differently from its agent's definition.
import { identifier, numeric, wholeNumber } from "../coerce.ts";
import { isMap, type Json, type JsonMap, type UnknownMap } from "../json.ts";

export type RuntimeOverrides = {
  readonly system_prompt: string | null;
  readonly provider_id: string | null;
  readonly model_id: string | null;
  readonly temperature: number | null;
  readonly max_iterations: number | null;
  readonly tier_1_tools: readonly string[];
  readonly greeting: string | null;
};

const nothing: UnknownMap = {};

/** All seven overrides; what is absent, blank or of the wrong kind is null, and so is a limit below one. */
export function normalize(value: unknown): RuntimeOverrides {
  const given = isMap(value) ? value : nothing;
  return Object.freeze({
    system_prompt: label(given.system_prompt),
    provider_id: label(given.provider_id),
    model_id: label(given.model_id),
    temperature: numeric(given.temperature) ?? null,
    max_iterations: wholeNumber(given.max_iterations, 0) || null,
    tier_1_tools: labels(given.tier_1_tools),
    greeting: label(given.greeting),
  });
}

/** The overrides that say something, by the keys under which a run's context carries them. */
export function intoContext(overrides: RuntimeOverrides): JsonMap {
  const context: Record<string, Json> = {};
  for (const [key, item] of Object.entries<Json>(overrides)) {
    const isSet = Array.isArray(item) ? item.length > 0 : item !== null;
    if (isSet) context[key] = item;
  }
  return context;
}

function label(value: unknown): string | null {
  return identifier(value) ?? null;
}

function labels(value: unknown): readonly string[] {
  const items = Array.isArray(value) ? value : [value];
  return Object.freeze([...new Set(items.map(label).filter((item) => item !== null))]);
}
