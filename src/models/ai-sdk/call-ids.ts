// Ids of calls in a form that the provider takes, whoever made the call.
import { sha256 } from "../../contracts/canonical-json.ts";
import type { AiSdkModel } from "../model-choice.ts";

type Form = { readonly accepted: RegExp; readonly from: (hash: string) => string };

/** Anthropic takes these characters alone, and OpenAI no more than 40 of them. */
const usual: Form = { accepted: /^[a-zA-Z0-9_-]{1,40}$/, from: (hash) => `call_${hash.slice(0, 32)}` };

/** What Mistral's API demands, and the templates of its models wherever they are served. */
const short: Form = { accepted: /^[a-zA-Z0-9]{9}$/, from: (hash) => hash.slice(0, 9) };
const MISTRAL = /(mi|mini|dev|code|magi)stral|mixtral/i;

/**
 * Names the calls of one request. What is accepted stays as it is, because some providers remember their own ids. None is
 * used twice: others count their calls anew in every answer.
 */
export function callIds({ provider, modelId }: Pick<AiSdkModel, "provider" | "modelId">): (id: string) => string {
  const { accepted, from } = MISTRAL.test(`${provider} ${modelId}`) ? short : usual;
  const used = new Set<string>();
  return (id) => {
    let unique = accepted.test(id) ? id : from(sha256(id));
    for (let times = 2; used.has(unique); times++) unique = from(sha256(`${id} ${times}`));
    used.add(unique);
    return unique;
  };
}
