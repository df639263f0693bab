// The secrets that a call brings with it, beside those that its run knows.
import type { JsonMap } from "../../contracts/json.ts";
import { createKnownSecrets, type KnownSecrets } from "../secrets/known-secrets.ts";
import type { ThreadRun } from "../thread-run.ts";
import { parameterMarks } from "./shown-outcome.ts";

export function callSecrets({ known }: ThreadRun, parameters: JsonMap, declaration: JsonMap): KnownSecrets {
  const secrets = createKnownSecrets(known, { tells: true });
  secrets.addFrom(parameters, parameterMarks(declaration));
  return secrets;
}
