// What an agent gives for a model, read: which kind it is, and what is said of it beside.
import { trimmed } from "../../contracts/coerce.ts";
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { isMap } from "../../contracts/json.ts";
import type { ModelEntry, ModelSource, Price } from "../model-choice.ts";
import { isAiSdkModel, isAiSdkProvider, looksLikeAiSdkModel } from "./ai-sdk-interface.ts";

/** A choice as an entry. Throws `invalid_model` with the path of what is wrong; a field that there is not is wrong too. */
export function readEntry(choice: unknown, path: string): ModelEntry {
  if (!isMap(choice) || looksLikeAiSdkModel(choice) || !("model" in choice)) {
    return { model: readSource(choice, path) };
  }
  const unknown = Object.keys(choice).find((field) => field !== "model" && !isField(field));
  if (unknown !== undefined) throw invalid(`${path}.${unknown} is no field of a model`);
  for (const [field, [kind, isOfKind]] of Object.entries(fields)) {
    if (choice[field] !== undefined && !isOfKind(choice[field])) throw invalid(`${path}.${field} must be ${kind}`);
  }
  if (choice.price !== undefined) checkPrice(choice.price, `${path}.price`);
  const model = readSource(choice.model, `${path}.model`);
  const stray = typeof model === "function" ? OF_PROVIDERS.find((field) => choice[field] !== undefined) : undefined;
  // Nobody could tell a function, and whoever set it would believe that it holds.
  if (stray !== undefined) throw invalid(`${path}.${stray} says nothing to a function; settle it inside`);
  return { ...(choice as ModelEntry), model };
}

function readSource(value: unknown, path: string): ModelSource {
  if (isAiSdkProvider(value)) throw invalid(`${path} is a provider; call it with the name of a model`);
  if (typeof value === "function") return value as ModelSource;
  if (typeof value === "string" || isAiSdkModel(value)) return value;
  if (looksLikeAiSdkModel(value)) {
    const version = value.specificationVersion;
    throw holdfastError("model_interface_unknown", `${path} is a model of the AI SDK's interface ${version}`);
  }
  throw invalid(`${path} must be a function, a model of the AI SDK, or a name such as openai/gpt-5`);
}

/** What only a provider can be told. */
const OF_PROVIDERS = ["temperature", "providerOptions", "stallMs"] as const;

// A longer timer would overflow and fire at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

type Field = Exclude<keyof ModelEntry, "model">;

const fields: Readonly<Record<Field, readonly [kind: string, isOfKind: (value: unknown) => boolean]>> = {
  name: ["text that is not blank", (value) => trimmed(value) !== undefined],
  price: ["{ input, output, cached? }, in dollars per million tokens", isMap],
  maxOutputTokens: ["a whole number from 1", (value) => isWhole(value, Number.MAX_SAFE_INTEGER)],
  temperature: ["a number from 0", isAmount],
  providerOptions: ["a map", isMap],
  stallMs: ["a whole number of milliseconds, from 1 to 2147483647", (value) => isWhole(value, LONGEST_TIMER_MS)],
  capabilities: ["{ supportsImages?, supportsToolCalls?, maxContextTokens? }", isCapabilities],
};

function isField(name: string): name is Field {
  return Object.hasOwn(fields, name);
}

function checkPrice(given: unknown, path: string): void {
  const { input, output, cached, ...unknown } = given as Price & Record<string, unknown>;
  const [stray] = Object.keys(unknown);
  if (stray !== undefined) throw invalid(`${path}.${stray} is no field of a price`);
  for (const [field, value] of Object.entries({ input, output, ...(cached !== undefined && { cached }) })) {
    if (!isAmount(value)) throw invalid(`${path}.${field} must be a number from 0`);
  }
}

function isCapabilities(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { supportsImages = true, supportsToolCalls = true, maxContextTokens = 1, ...unknown } = value;
  const areFlags = typeof supportsImages === "boolean" && typeof supportsToolCalls === "boolean";
  return areFlags && isWhole(maxContextTokens, Number.MAX_SAFE_INTEGER) && Object.keys(unknown).length === 0;
}

function isAmount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isWhole(value: unknown, most: number): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= most;
}

function invalid(detail: string): HoldfastError {
  return holdfastError("invalid_model", detail);
}
