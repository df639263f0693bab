// What a call came to, as it may be stored and shown: whoever ran it has seen the secrets, and nobody else does.
import { errorMessage } from "../../contracts/error.ts";
import { isMap, type Json, type JsonMap, snapshot } from "../../contracts/json.ts";
import { sensitivePaths } from "../../contracts/tools/exposure.ts";
import { perDefinition } from "../../contracts/tools/per-definition.ts";
import { hideSecrets } from "../secrets/hide-secrets.ts";
import type { KnownSecrets } from "../secrets/known-secrets.ts";
import { type SecretMarks, secretMarks } from "../secrets/secret-marks.ts";

const marksOf = perDefinition((declaration) => secretMarks(sensitivePaths(declaration)) ?? null);

/** The places in the parameters of a tool that its declaration hides. */
export function parameterMarks(declaration: JsonMap): SecretMarks | undefined {
  return marksOf(declaration) ?? undefined;
}

/**
 * What was returned, without secrets; `marks` are those of the tool's output. What cannot be stored is left as it is: it is
 * refused where it would be.
 */
export function shownReturn(returned: unknown, secrets: KnownSecrets, marks?: SecretMarks): unknown {
  let given: Json;
  try {
    given = snapshot(inWords(returned));
  } catch {
    return returned;
  }
  if (isPending(given)) return given;
  const shown = hideSecrets(given, secrets, marks);
  return shown === given ? given : withMeaning(given, withProposal(given, shown));
}

/** Whether it succeeded stays as it is, whatever somebody chose as a password. */
function withMeaning(given: Json, shown: Json): Json {
  if (!isMap(given) || !isMap(shown) || (given.status !== "success" && given.status !== "error")) return shown;
  return { ...(shown as JsonMap), status: given.status };
}

/** What was thrown: its words are all that becomes part of the thread. */
export function shownThrow(threw: unknown, secrets: KnownSecrets): unknown {
  if (secrets.isEmpty) return threw;
  const words = errorMessage(threw);
  const clean = secrets.clean(words);
  return clean === words ? threw : new Error(clean);
}

/** Somebody else brings the result. The request is sealed until then, and has to be whole. */
export function isPending(returned: unknown): boolean {
  if (!isMap(returned)) return false;
  const { status, metadata } = returned;
  return [status, isMap(metadata) ? metadata.status : undefined].includes("runtime_tool_pending");
}

/** An error has words, which its copy would not have. */
function inWords(returned: unknown): unknown {
  return isMap(returned) && returned.error instanceof Error
    ? { ...returned, error: errorMessage(returned.error) }
    : returned;
}

/** What a tool proposes is applied by somebody else, who needs what that takes; it is sealed, and not in the transcript. */
function withProposal(given: Json, shown: Json): Json {
  if (!isMap(given) || !isMap(shown)) return shown;
  if (given.type === "approval_required") {
    const proposal = { ...(shown as JsonMap), type: given.type };
    if (!isMap(given.payload) || !("apply_input" in given.payload)) return proposal;
    const payload = { ...(shown.payload as JsonMap), apply_input: given.payload.apply_input as Json };
    return { ...proposal, payload };
  }
  if (!isMap(given.result) || given.result.type !== "approval_required") return shown;
  return { ...(shown as JsonMap), result: withProposal(given.result as Json, shown.result as Json) };
}
