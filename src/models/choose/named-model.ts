// From a name such as "openai/gpt-5" to a model of the AI SDK: the provider's package, its key and its address.
import { trimmed } from "../../contracts/coerce.ts";
import { errorMessage, HoldfastError, holdfastError } from "../../contracts/error.ts";
import { isMap } from "../../contracts/json.ts";
import type { AiSdkModel } from "../model-choice.ts";
import { isAiSdkModel } from "./ai-sdk-interface.ts";
import { failed, loadProviderPackage, type ProviderFactory } from "./load-provider-package.ts";
import { type Provider, providers } from "./providers.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The model of that name. Whatever is missing is thrown, with its own code: `model_name_invalid`,
 * `model_provider_unknown`, `model_key_missing`, `model_package_missing`, `model_package_failed`.
 */
export async function namedModel(name: string, env: Environment): Promise<AiSdkModel> {
  const { provider, providerName, modelName } = readName(name);
  const apiKey = keyOf(provider, name, env);
  const { baseUrl } = provider;
  const set = baseUrl && trimmed(env[baseUrl.variable]);
  const baseURL = baseUrl && addressOf(baseUrl, set);
  const speaker = await speakerOf((set !== undefined && baseUrl?.servedBy) || provider);
  const { create, package: packageName, factory } = speaker;
  const model = attempt(packageName, () => {
    return create({
      ...(apiKey !== undefined && { apiKey }),
      ...(baseURL !== undefined && { baseURL }),
      // What only the compatible package asks for: a server that does not say what it used cannot be kept to a budget.
      ...(factory === "createOpenAICompatible" && {
        name: providerName,
        includeUsage: true,
        supportsStructuredOutputs: true,
      }),
      ...speaker.settings,
    })(modelName);
  });
  if (isAiSdkModel(model)) return model;
  const version = isMap(model) ? String(model.specificationVersion) : "none";
  throw failed(
    packageName,
    `makes models of the interface ${version}, not v3 or v4: npm install ${packageName}@latest`,
  );
}

type Speaker = NonNullable<Provider["standIn"]> & { readonly create: ProviderFactory };

/** The provider's own package; what stands in for it where that one alone is missing. It is the same model either way. */
async function speakerOf({ standIn, ...own }: Pick<Provider, "package" | "factory" | "standIn">): Promise<Speaker> {
  try {
    return { ...own, settings: {}, create: await loadProviderPackage(own.package, own.factory) };
  } catch (thrown) {
    if (!standIn || !isMissing(thrown)) throw thrown;
    const create = await loadProviderPackage(standIn.package, standIn.factory).catch((second: unknown) => {
      // Where there is neither, it is the provider's own that is worth installing.
      throw isMissing(second) ? thrown : second;
    });
    return { ...standIn, create };
  }
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof HoldfastError && thrown.code === "model_package_missing";
}

/** Whatever stands behind the first slash is the model's own name, further slashes included. */
function readName(name: string) {
  const slash = name.indexOf("/");
  const providerName = name.slice(0, Math.max(slash, 0));
  const modelName = name.slice(slash + 1);
  if (providerName === "" || modelName === "") {
    throw holdfastError("model_name_invalid", `"${name}" is not <provider>/<model>.`);
  }
  const provider = providers.get(providerName);
  if (provider) return { provider, providerName, modelName };
  const known = [...providers.keys()].join(", ");
  throw holdfastError(
    "model_provider_unknown",
    `There is no provider "${providerName}" to ask for "${modelName}"; there are ${known}.`,
  );
}

function keyOf({ keys }: Provider, name: string, env: Environment): string | undefined {
  if (keys.length === 0) return undefined;
  const key = keys.map((variable) => trimmed(env[variable])).find((value) => value !== undefined);
  if (key !== undefined) return key;
  throw holdfastError("model_key_missing", `${name} needs a key, and ${keys.join(" or ")} is not set.`);
}

function addressOf(baseUrl: NonNullable<Provider["baseUrl"]>, set: string | undefined): string | undefined {
  const { variable, otherwise, endsInVersion = false } = baseUrl;
  if (set === undefined) return otherwise;
  if (!URL.canParse(set) || !/^https?:/i.test(set)) {
    throw holdfastError("invalid_model", `${variable} must be an address such as http://localhost:8000/v1`);
  }
  const address = set.replace(/\/$/, "");
  return endsInVersion && !address.endsWith("/v1") ? `${address}/v1` : address;
}

function attempt(packageName: string, make: () => unknown): unknown {
  try {
    return make();
  } catch (thrown) {
    throw failed(packageName, `makes no model: ${errorMessage(thrown)}`, thrown);
  }
}
