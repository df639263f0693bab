// Which model is used when none is named: what the environment says, and the demo model only where it says nothing.
import { trimmed } from "../../contracts/coerce.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { Environment } from "./named-model.ts";
import { providers } from "./providers.ts";

/** The name of the model that answers offline, by rules. */
export const DEMO = "demo";

/**
 * HOLDFAST_MODEL; otherwise the default of the one provider whose key is set; otherwise the demo model. Throws
 * `model_not_named` where that is a guess: which of several keys to spend is for people to say.
 */
export function unnamedModel(env: Environment): string {
  const named = trimmed(env.HOLDFAST_MODEL);
  if (named !== undefined) return named;
  const meant = [...providers].flatMap(([name, { meantBy, defaultModel }]) => {
    const variable = meantBy.find((each) => trimmed(env[each]) !== undefined);
    return variable === undefined ? [] : [{ name, variable, defaultModel }];
  });
  const [first, second] = meant;
  if (!first) return DEMO;
  if (second) {
    const set = meant.map(({ variable }) => variable).join(", ");
    throw holdfastError("model_not_named", `No model is named, and several providers could be meant: ${set} are set.`);
  }
  if (first.defaultModel !== undefined) return `${first.name}/${first.defaultModel}`;
  throw holdfastError(
    "model_not_named",
    `No model is named; ${first.variable} is set, but ${first.name} has no default: HOLDFAST_MODEL=${first.name}/<model>`,
  );
}
