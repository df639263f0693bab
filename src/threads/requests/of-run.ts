// Requests that a run of a workflow has made. They stand among those of threads, and are answered alike; what only makes sense for
// a call of an agent does not.
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import { mayHaveNoPerson } from "../../contracts/trust/approver-rule.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import type { Host } from "../host.ts";
import { inWords } from "../schemas/in-words.ts";
import { readSchema } from "../schemas/tool-schema.ts";
import type { ReadAnswer } from "./read-answer.ts";

/** A run says in what it shows that it has asked: no thread does, and the request is bound to that. */
export function isOfRun({ thread_id, shown }: { readonly thread_id: string; readonly shown: JsonMap }): boolean {
  return shown.run_id === thread_id;
}

/** Why an answer makes no sense for what a run has asked. */
export async function refusalOfRun(
  { id, shown }: { readonly id: string; readonly shown: JsonMap },
  { answer, edits, remember }: ReadAnswer,
): Promise<HoldfastError | undefined> {
  const invalid = (detail: string) => holdfastError("invalid_answer", `Request "${id}" ${detail}`);
  if (edits !== null) return invalid("cannot be edited: a workflow asked for it, and goes on with what it proposed.");
  if (remember) return invalid("cannot be remembered: a workflow asked for it, and asks each time.");
  const schema = isMap(shown.schema) && "result" in answer ? readSchema(shown.schema) : undefined;
  const checked = await schema?.validate(answer.result);
  if (!checked || checked.ok) return undefined;
  return invalid(`takes a result that fits its schema: ${inWords(checked.problems)}`);
}

/**
 * The agents whose work a run is: those that it has asked, and the one that started it, unless a person did. None of them decides
 * about what it proposes.
 */
export async function agentsOfRun(
  { stores }: Pick<Host, "stores">,
  id: string,
  principal: Principal,
): Promise<readonly string[]> {
  const asked = await stores.threads.agentsBelow(id);
  return mayHaveNoPerson(principal) ? [...asked, principal.effective_agent_id] : asked;
}
