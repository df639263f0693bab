// Any model of the AI SDK's provider packages as a model that runs can ask. It streams always: so that words are heard as
// they come, and silence is noticed.
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Message } from "../../contracts/conversation/message.ts";
import { holdfastError } from "../../contracts/error.ts";
import { isMap } from "../../contracts/json.ts";
import type { Model, ModelAnswer, ModelOptions } from "../model.ts";
import type { AiSdkModel, ModelEntry } from "../model-choice.ts";
import { ModelFailure } from "../model-failure.ts";
import { providerTools } from "../provider-call.ts";
import { failureOf, stalledAnswer } from "./failure.ts";
import { gatherAnswer } from "./gather-answer.ts";
import { promptOf } from "./prompt.ts";
import { providerOptionsFor } from "./provider-options.ts";
import { readStream } from "./read-stream.ts";
import { type Watch, watchSilence } from "./watch-silence.ts";

export type AiSdkSettings = Pick<ModelEntry, "maxOutputTokens" | "temperature" | "providerOptions" | "stallMs">;

const STALL_MS = 60_000;

/**
 * A model that asks the provider once and answers with the whole answer, or throws a `ModelFailure`; an abort is thrown
 * on as the signal's reason. It never asks again by itself. Throws `model_interface_unknown` for another interface than
 * v3 and v4.
 */
export function aiSdkModel(model: AiSdkModel, settings: AiSdkSettings = {}): Model {
  checkInterface(model);
  const { stallMs = STALL_MS } = settings;
  if (!(stallMs > 0)) throw holdfastError("invalid_argument", `stallMs must be a number above 0, not ${stallMs}`);
  const { provider, modelId } = model;
  const name = `${provider}/${modelId}`;

  return async (messages, _context, options): Promise<ModelAnswer> => {
    const { tools = {}, signal } = options;
    const onDelta = listenerOf(options);
    signal?.throwIfAborted();
    const gathering = gatherAnswer({ providerId: provider, modelId, tools, onDelta });
    const watch = watchSilence(stallMs, signal);
    try {
      const call = (showsFiles: boolean) =>
        callOptions(model, messages, { ...options, tools, showsFiles }, settings, watch);
      const { stream } = await begin(model, call(true), watch).catch((thrown: unknown) => {
        // One file that a model does not take must not keep the thread from going on for ever.
        if (!isUnsupported(thrown)) throw thrown;
        return begin(model, call(false), watch);
      });
      await readStream(stream, { name, gathering, watch, stallMs });
      signal?.throwIfAborted();
      return gathering.answer();
    } catch (thrown) {
      // Whatever it looks like from here, it is the caller who has ended it.
      signal?.throwIfAborted();
      throw thrown;
    } finally {
      watch.close();
    }
  };

  async function begin(model: AiSdkModel, call: LanguageModelV4CallOptions, watch: Watch) {
    // Both interfaces are called alike; what differs in the prompt was seen to.
    const asked = (async () => await (model as LanguageModelV4).doStream(call))();
    try {
      return await Promise.race([asked, watch.ended]);
    } catch (thrown) {
      // A package that does not listen may still answer some day, to nobody.
      asked.then(({ stream }) => stream.cancel()).catch(() => {});
      const attempt = { name, hasSpoken: false, isStreaming: false };
      throw watch.hasStalled() ? stalledAnswer(stallMs, attempt) : failureOf(thrown, attempt);
    }
  }
}

function checkInterface(model: unknown): void {
  const version = isMap(model) ? model.specificationVersion : undefined;
  if (version === "v3" || version === "v4") return;
  throw holdfastError("model_interface_unknown", `The model implements the interface ${JSON.stringify(version)}.`);
}

function callOptions(
  model: AiSdkModel,
  messages: readonly Message[],
  options: ModelOptions & { readonly showsFiles: boolean },
  settings: AiSdkSettings,
  { signal }: Watch,
): LanguageModelV4CallOptions {
  const { tools, instructions, output, maxOutputTokens, showsFiles, toolChoice, reasoning } = options;
  const longest = Math.min(maxOutputTokens ?? Infinity, settings.maxOutputTokens ?? Infinity);
  const offered = providerTools(tools);
  const { temperature } = settings;
  const providerOptions = providerOptionsFor(model, settings.providerOptions, options, offered.length > 0);
  return {
    prompt: promptOf(messages, { instructions: withOutput(instructions, output), tools, model, showsFiles }),
    ...(offered.length > 0 && {
      tools: offered.map(({ name, description, parameters }) => ({
        type: "function" as const,
        name,
        description,
        inputSchema: parameters as Schema,
      })),
      ...(toolChoice !== undefined && { toolChoice: { type: toolChoice } }),
    }),
    ...(output && { responseFormat: { type: "json", name: output.name, schema: output.schema as Schema } }),
    ...(longest < Infinity && { maxOutputTokens: longest }),
    ...(temperature !== undefined && { temperature }),
    ...(reasoning?.effort !== undefined && model.specificationVersion === "v4" && { reasoning: reasoning.effort }),
    ...(providerOptions && { providerOptions }),
    abortSignal: signal,
    // A provider that only says that it is still there is not silent; not every package tells of it otherwise.
    includeRawChunks: true,
  };
}

/** Whoever is told of the answer piece by piece, of thoughts only where they are wanted. */
function listenerOf({ onDelta, reasoning }: ModelOptions): ModelOptions["onDelta"] {
  if (!onDelta || reasoning?.exclude !== true) return onDelta;
  return (delta) => {
    if (delta.type !== "reasoning") onDelta(delta);
  };
}

/** The package cannot even write the request, which is so for files of kinds that it does not know. */
function isUnsupported(thrown: unknown): boolean {
  const cause = thrown instanceof ModelFailure ? thrown.cause : undefined;
  return isMap(cause) && cause.name === "AI_UnsupportedFunctionalityError";
}

/** In words too: many a provider that is told the schema passes on no more than that the answer is to be JSON. */
function withOutput(instructions: string | undefined, output: ModelOptions["output"]): string | undefined {
  if (!output) return instructions;
  const asked = `When you are done, answer with JSON alone, of this JSON Schema: ${JSON.stringify(output.schema)}`;
  return instructions === undefined ? asked : `${instructions}\n\n${asked}`;
}

type Schema = Extract<NonNullable<LanguageModelV4CallOptions["responseFormat"]>, { schema?: unknown }>["schema"] &
  object;
