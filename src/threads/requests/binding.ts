// What ties a request to its call, and an answer to its request: made with the installation's key over the full values,
// since two calls may differ only in what nobody is shown. What was written past us does not have it.
import type { NewRequest, StoredRequest } from "../../backend/request-store.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { Working } from "../../loop/working.ts";
import type { Sealing } from "../secrets/sealing.ts";

/** What a call would run with. */
export type Proposed = { readonly tool_name: string; readonly parameters: JsonMap };

export function proposedBy({ call }: Working): Proposed {
  if (!call) throw new Error("No call is open.");
  const { prepared, name, parameters } = call;
  const exact = prepared.ready ? prepared.tool_call : { tool_name: name, parameters };
  return { tool_name: exact.tool_name, parameters: exact.parameters };
}

/**
 * What a request says of itself is bound too: its kind and its terms decide who may answer it, and what it shows is what
 * whoever decides goes by.
 */
export function bindingOf(
  sealing: Sealing,
  { id, kind, shown, terms }: Pick<NewRequest, "id" | "kind" | "shown" | "terms">,
  { tool_name, parameters }: Proposed,
): string {
  const bound = kind === "approval" && terms ? { ...terms } : null;
  return sealing.bind({ tool_name, parameters, kind, shown, terms: bound }, id);
}

type Answered = Pick<StoredRequest, "id" | "binding" | "answer" | "resolver" | "decided_by">;

export function answerMac(sealing: Sealing, { id, binding, answer, resolver, decided_by }: Answered): string {
  return sealing.bind([binding, answer, resolver, decided_by], `answer:${id}`);
}
