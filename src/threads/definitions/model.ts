// A model under a name of its own: which one it is, what it costs and can do, and who takes over from it.
import { createBrand } from "../../contracts/brand.ts";
import { trimmed } from "../../contracts/coerce.ts";
import { errorMessage, type HoldfastError } from "../../contracts/error.ts";
import { isMap, type JsonMap, snapshotMap, type UnknownMap } from "../../contracts/json.ts";
import { isAcceptedName } from "../../contracts/standard/names.ts";
import type { ModelEntry, ModelSource, Price } from "../../models/model-choice.ts";
import { isWholeNumber } from "../whole-number.ts";
import { invalidDefinition } from "./invalid-definition.ts";

/** What a model can do. What is not said counts as something that it can. */
export type ModelCapabilities = {
  readonly supportsImages?: boolean;
  readonly supportsToolCalls?: boolean;
  readonly supportsStreaming?: boolean;
  readonly supportsJsonMode?: boolean;
  readonly maxContextTokens?: number;
  readonly maxOutputTokens?: number;
  /** From how hard it thinks, 0 to 100, to the provider's word for it. */
  readonly reasoningLevels?: Readonly<Record<number, string | null>>;
};

export type ModelInput = {
  /** What prompts call it by: better what it is for than whose it is. */
  readonly name: string;
  /** With `model` as its id: a provider of the AI SDK, any function that makes a model of an id, or a provider's name. */
  readonly provider?: ((id: string) => ModelSource) | string;
  readonly model: ModelSource;
  /** Names of other models, asked in this order when it fails. */
  readonly fallbacks?: readonly string[];
  readonly price?: Price;
  /** US dollars per million tokens, instead of `price`. */
  readonly inputPrice?: number;
  readonly outputPrice?: number;
  readonly cachedPrice?: number;
  readonly capabilities?: ModelCapabilities & { readonly vision?: boolean };
  readonly providerOptions?: JsonMap;
  readonly temperature?: number;
  /** How long a stream may be silent before it counts as stalled. */
  readonly stallMs?: number;
  /** Kept for those who read definitions; gateways are told by `providerOptions`. */
  readonly includedProviders?: readonly string[];
  /** Kept for those who read definitions: tools that a provider runs itself are not offered. */
  readonly providerTools?: readonly string[];
};

/** A model, ready to be named by prompts. */
export type ModelDefinition = {
  readonly name: string;
  readonly model: ModelSource;
  readonly fallbacks: readonly string[];
  readonly price?: Price;
  readonly capabilities: ModelCapabilities;
  readonly providerOptions?: JsonMap;
  readonly temperature?: number;
  readonly stallMs?: number;
  readonly includedProviders: readonly string[];
  readonly providerTools: readonly string[];
};

const models = createBrand();

/** True for what `model` has made. */
export function isModel(value: unknown): value is ModelDefinition {
  return isMap(value) && models.has(value);
}

/** Defines a model. Throws `invalid_definition` with the field that is wrong; a field that there is not is wrong too. */
export function model(definition: ModelInput): ModelDefinition {
  const given: UnknownMap = isMap(definition) ? definition : {};
  const name = trimmed(given.name);
  const invalid = (detail: string, cause?: unknown) => invalidDefinition("model", name, detail, cause);
  if (name === undefined || !isAcceptedName(name)) {
    throw invalid("name must be small letters, digits, underscores and hyphens");
  }
  for (const [field, kind, isOfKind] of checks) {
    if (given[field] !== undefined && !isOfKind(given[field])) throw invalid(`${field} must be ${kind}`);
  }
  const unknown = Object.keys(given).find((field) => !fields.has(field));
  if (unknown !== undefined) throw invalid(`${unknown} is no field of a model`);
  const price = priceOf(definition, invalid);
  const { fallbacks = [], includedProviders = [], providerTools = [], temperature, stallMs } = definition;
  if (fallbacks.includes(name)) throw invalid(`fallbacks names ${name} itself`);
  const made: ModelDefinition = {
    name,
    model: sourceOf(definition, invalid),
    fallbacks: Object.freeze([...fallbacks]),
    ...(price && { price }),
    capabilities: capabilitiesOf(definition.capabilities ?? {}),
    ...(definition.providerOptions && { providerOptions: snapshotMap(definition.providerOptions) }),
    ...(temperature !== undefined && { temperature }),
    ...(stallMs !== undefined && { stallMs }),
    includedProviders: Object.freeze([...includedProviders]),
    providerTools: Object.freeze([...providerTools]),
  };
  models.mark(made);
  return Object.freeze(made);
}

/** The model and those that take over from it, in order. Their own fallbacks do not: nobody asked for those here. */
export function choicesOf(
  definition: ModelDefinition,
  registry: { readonly models: ReadonlyMap<string, ModelDefinition> },
): readonly ModelEntry[] {
  const others = definition.fallbacks.flatMap((name) => registry.models.get(name) ?? []);
  return [definition, ...others].map(entryOf);
}

function entryOf(definition: ModelDefinition): ModelEntry {
  const { name, model, price, capabilities, providerOptions, temperature, stallMs } = definition;
  const { maxOutputTokens, maxContextTokens, supportsImages, supportsToolCalls } = capabilities;
  return {
    model,
    name,
    ...(price && { price }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(providerOptions && { providerOptions }),
    ...(stallMs !== undefined && { stallMs }),
    capabilities: {
      ...(supportsImages !== undefined && { supportsImages }),
      ...(supportsToolCalls !== undefined && { supportsToolCalls }),
      ...(maxContextTokens !== undefined && { maxContextTokens }),
    },
  };
}

type Invalid = (detail: string, cause?: unknown) => HoldfastError;

function sourceOf({ provider, model }: ModelInput, invalid: Invalid): ModelSource {
  if (provider === undefined) {
    if (isSource(model)) return model;
    throw invalid("model must be a name such as openai/gpt-5, a model object of the AI SDK or a function");
  }
  const id = trimmed(model);
  if (id === undefined) throw invalid("model must be the name by which the provider knows it");
  if (typeof provider === "string") return `${provider.trim()}/${id}`;
  try {
    const made: unknown = provider(id);
    if (isSource(made)) return made;
  } catch (thrown) {
    throw invalid(`provider makes no model: ${errorMessage(thrown)}`, thrown);
  }
  throw invalid("provider must make a model of the name it is called with");
}

/** Whether it is one that can be asked turns out when the runtime starts. */
function isSource(value: unknown): value is ModelSource {
  return typeof value === "function" || trimmed(value) !== undefined || isMap(value);
}

function priceOf({ price, inputPrice, outputPrice, cachedPrice }: ModelInput, invalid: Invalid): Price | undefined {
  const single = [inputPrice, outputPrice, cachedPrice].filter((each) => each !== undefined);
  if (price !== undefined && single.length > 0) throw invalid("price is given twice: once whole and once in parts");
  if (price !== undefined) return Object.freeze({ ...price });
  if (single.length === 0) return undefined;
  if (inputPrice === undefined) throw invalid("inputPrice must be given beside the other prices");
  if (outputPrice === undefined) throw invalid("outputPrice must be given beside the other prices");
  return Object.freeze({
    input: inputPrice,
    output: outputPrice,
    ...(cachedPrice !== undefined && { cached: cachedPrice }),
  });
}

/** `vision` is an older name. */
function capabilitiesOf({ vision, ...given }: NonNullable<ModelInput["capabilities"]>): ModelCapabilities {
  return Object.freeze({ ...(vision !== undefined && { supportsImages: vision }), ...given });
}

type Check = readonly [field: keyof ModelInput, kind: string, isOfKind: (value: unknown) => boolean];

const checks: readonly Check[] = [
  ["provider", "a function that makes models, or a provider's name", isProvider],
  ["fallbacks", "a list of names of models", isListOfNames],
  ["price", "{ input, output, cached? }, in dollars per million tokens", isPrice],
  ["inputPrice", "a number from 0", isAmount],
  ["outputPrice", "a number from 0", isAmount],
  ["cachedPrice", "a number from 0", isAmount],
  ["capabilities", "a map of what there is to say of a model", isCapabilities],
  ["providerOptions", "a map", isMap],
  ["temperature", "a number from 0", isAmount],
  ["stallMs", "a whole number of milliseconds", (value) => isWholeNumber(value, 1, 2 ** 31 - 1)],
  ["includedProviders", "a list of names", isListOfNames],
  ["providerTools", "a list of names", isListOfNames],
];

const fields: ReadonlySet<string> = new Set(["name", "model", ...checks.map(([field]) => field)]);

function isProvider(value: unknown): boolean {
  return typeof value === "function" || trimmed(value) !== undefined;
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => trimmed(name) !== undefined);
}

function isAmount(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isPrice(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { input, output, cached = 0, ...unknown } = value;
  return [input, output, cached].every(isAmount) && Object.keys(unknown).length === 0;
}

const isFlag = (value: unknown) => typeof value === "boolean";

const capabilities: Readonly<Record<string, (value: unknown) => boolean>> = {
  supportsImages: isFlag,
  supportsToolCalls: isFlag,
  supportsStreaming: isFlag,
  supportsJsonMode: isFlag,
  vision: isFlag,
  maxContextTokens: (value) => isWholeNumber(value, 1),
  maxOutputTokens: (value) => isWholeNumber(value, 1),
  reasoningLevels: isMap,
};

function isCapabilities(value: unknown): boolean {
  return isMap(value) && Object.entries(value).every(([name, each]) => capabilities[name]?.(each) ?? false);
}
