// The model that an agent's configuration names, with the key and the address that stand beside it.
import { trimmed } from "../../../contracts/coerce.ts";
import { holdfastError } from "../../../contracts/error.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import type { Environment } from "../../../models/choose/named-model.ts";
import { providers } from "../../../models/choose/providers.ts";
import { readyModels } from "../../../models/choose/ready-models.ts";
import type { ReadyModel } from "../../../models/model-choice.ts";

/**
 * Reads `model`, `api_key` and `base_url`. Where a key or an address is not configured, the environment's counts. Throws
 * `model_not_named` where the configuration names no model, and what naming a model throws.
 */
export async function modelFromConfig(config: JsonMap, env: Environment): Promise<ReadyModel> {
  const name = trimmed(config.model);
  if (name === undefined) {
    throw holdfastError(
      "model_not_named",
      "The agent's configuration names no model: set model, such as openai/gpt-5.",
    );
  }
  const [model] = await readyModels(name, { ...env, ...variablesOf(name, config) });
  if (model) return model;
  throw holdfastError("invalid_model", `${JSON.stringify(name)} names no model.`);
}

/** Providers read their key and address from variables. */
function variablesOf(name: string, config: JsonMap): Environment {
  const provider = providers.get(name.split("/")[0] ?? "");
  const key = trimmed(config.api_key);
  const address = trimmed(config.base_url);
  const [keyVariable] = provider?.keys ?? [];
  if (address !== undefined && provider && !provider.baseUrl) {
    throw holdfastError("invalid_model", `base_url says nothing to the provider of ${name}.`);
  }
  return {
    ...(key !== undefined && keyVariable !== undefined && { [keyVariable]: key }),
    ...(address !== undefined && provider?.baseUrl && { [provider.baseUrl.variable]: address }),
  };
}
