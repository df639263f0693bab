// The settings of one request that only its provider knows: the model's own, the request's over them, and what has no
// place of its own in the AI SDK's interface.
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { isMap } from "../../contracts/json.ts";
import type { ModelOptions } from "../model.ts";
import type { AiSdkModel } from "../model-choice.ts";

type ProviderOptions = NonNullable<LanguageModelV4CallOptions["providerOptions"]>;
type Given = Readonly<Record<string, unknown>>;

/** Undefined when nobody has set anything. `hasTools`: providers refuse a setting about calls where there is no tool. */
export function providerOptionsFor(
  model: AiSdkModel,
  own: Given | undefined,
  { providerOptions, parallelToolCalls }: Pick<ModelOptions, "providerOptions" | "parallelToolCalls">,
  hasTools: boolean,
): ProviderOptions | undefined {
  const aboutCalls = parallelToolCalls === undefined || !hasTools ? {} : callsAtOnce(model, parallelToolCalls);
  // In their own words people are more precise than in ours.
  const laid = [own ?? {}, providerOptions ?? {}].reduce<Given>(layOver, aboutCalls);
  return Object.keys(laid).length > 0 ? (laid as ProviderOptions) : undefined;
}

/** Provider by provider and key by key. */
function layOver(below: Given, above: Given): Given {
  const laid: Record<string, unknown> = { ...below };
  for (const [provider, options] of Object.entries(above)) {
    const known = laid[provider];
    laid[provider] = isMap(known) && isMap(options) ? { ...known, ...options } : options;
  }
  return laid;
}

/** Packages that name the setting alike. */
const alike: ReadonlySet<string> = new Set(["openai", "mistral", "groq"]);

/** Nothing for a provider that has no such setting, or of which we do not know how it calls it. */
function callsAtOnce(model: AiSdkModel, isAllowed: boolean): Given {
  const name = model.provider.split(".")[0] ?? "";
  // The compatible package passes options that it does not know on as they are, so this is the name on the wire. Its
  // models can have any provider's name, openai among them.
  if ("providerOptionsName" in model) return { [name]: { parallel_tool_calls: isAllowed } };
  if (alike.has(name)) return { [name]: { parallelToolCalls: isAllowed } };
  return name === "anthropic" ? { anthropic: { disableParallelToolUse: !isAllowed } } : {};
}
