// From what an agent says about its models to models that can be asked. Nothing is loaded that nobody names.
import { holdfastError } from "../../contracts/error.ts";
import type { Model } from "../model.ts";
import type { AiSdkModel, ModelChoices, ModelEntry, ReadyModel } from "../model-choice.ts";
import { type Environment, namedModel } from "./named-model.ts";
import { readEntry } from "./read-entry.ts";
import { DEMO, unnamedModel } from "./unnamed-model.ts";

/**
 * The models in the order in which they are asked. What is named and cannot be had is thrown with a code of its own; no
 * other model ever takes its place. Only where nothing is named does the environment choose, down to the demo model.
 */
export async function readyModels(choices: ModelChoices | undefined, env: Environment): Promise<readonly ReadyModel[]> {
  if (choices === undefined) return [await makeReady({ model: unnamedModel(env) }, env)];
  if (!Array.isArray(choices)) return [await makeReady(readEntry(choices, "model"), env)];
  if (choices.length === 0) throw holdfastError("invalid_model", "model must not be an empty list");
  const entries = choices.map((choice, index) => readEntry(choice, `model[${index}]`));
  const ready: ReadyModel[] = [];
  // One after another, so that it is always the first one in the list that is complained of.
  for (const entry of entries) ready.push(await makeReady(entry, env));
  return ready;
}

async function makeReady(entry: ModelEntry, env: Environment): Promise<ReadyModel> {
  const { model, name: given, price = null, maxOutputTokens = null, capabilities } = entry;
  const known = { price, maxOutputTokens, ...(capabilities && { capabilities }) };
  if (typeof model === "function") return { name: given ?? "a function", ask: model, ...known };
  if (typeof model !== "string") {
    // A provider calls itself "openai.responses" and the like; people know its first word.
    const name = `${model.provider.split(".")[0]}/${model.modelId}`;
    return { name, ask: await asked(model, entry), ...known };
  }
  const name = model.trim();
  if (name === DEMO) {
    const { demoModel } = await import("../demo/demo-model.ts");
    // It costs nothing, so a limit on money need not keep anybody from trying it.
    return { name, ask: demoModel, ...known, price: price ?? { input: 0, output: 0 } };
  }
  return { name, ask: await asked(await namedModel(name, env), entry), ...known };
}

/** Loaded here, because a process whose models are functions has no use for the adapter. */
async function asked(model: AiSdkModel, entry: ModelEntry): Promise<Model> {
  const { aiSdkModel } = await import("../ai-sdk/ai-sdk-model.ts");
  const { maxOutputTokens, temperature, providerOptions, stallMs } = entry;
  return aiSdkModel(model, {
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(providerOptions !== undefined && { providerOptions }),
    ...(stallMs !== undefined && { stallMs }),
  });
}
