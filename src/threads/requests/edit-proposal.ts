// An approval with other parameters than were proposed: checked like a call, sealed and bound like a proposal.
import type { StoredRequest } from "../../backend/request-store.ts";
import { holdfastError } from "../../contracts/error.ts";
import { isMap, type JsonMap, snapshotMap } from "../../contracts/json.ts";
import { normalizeBindings } from "../../contracts/tools/bindings.ts";
import { expose } from "../../contracts/tools/exposure.ts";
import { validateRequired } from "../../contracts/tools/parameters.ts";
import { inWords } from "../schemas/in-words.ts";
import type { Sealing } from "../secrets/sealing.ts";
import type { Tool } from "../tool.ts";
import { bindingOf } from "./binding.ts";

export type EditedProposal = {
  readonly sealed: string;
  readonly binding: string;
  /** The parameters as they may be shown, for the answer that is stored. */
  readonly shown: JsonMap;
};

/** Throws `invalid_answer` for what may not be changed, and for what the tool does not take. */
export async function editProposal(
  sealing: Sealing,
  request: StoredRequest,
  tool: Tool | undefined,
  edits: JsonMap,
): Promise<EditedProposal> {
  const { id, sealed } = request;
  const invalid = (detail: string) => holdfastError("invalid_answer", `Request "${id}" cannot be edited: ${detail}.`);
  if (!tool) throw invalid("the tool is not known here");
  const whole = sealed === null ? {} : snapshotMap(JSON.parse(sealing.open(sealed, id)));
  const applied: JsonMap = isMap(whole.apply_input) ? snapshotMap(whole.apply_input) : {};
  const proposed = isMap(applied.parameters) ? applied.parameters : undefined;
  const { declaration } = tool;
  // A tool that proposes an action itself also applies it itself; its words are not ours to change.
  if (!proposed || applied.tool_name !== tool.name) throw invalid("the tool itself proposed it");
  // It is about to be bound anew: what somebody has changed past us must not come out as if it had been asked.
  if (request.binding !== bindingOf(sealing, request, { tool_name: tool.name, parameters: proposed })) {
    throw invalid("it is not as it was asked");
  }
  const bound = Object.keys(normalizeBindings(declaration)).find((name) => Object.hasOwn(edits, name));
  if (bound !== undefined) throw invalid(`${bound} comes from the context of the run`);
  const parameters = snapshotMap({ ...proposed, ...edits });
  const { valid, missing } = validateRequired(parameters, declaration);
  if (!valid) throw invalid(`it needs ${missing.join(", ")}`);
  const input = await tool.validateInput(parameters);
  if (!input.ok) throw invalid(inWords(input.problems));
  return {
    sealed: sealing.seal(JSON.stringify({ ...whole, apply_input: { ...applied, parameters } }), id),
    binding: bindingOf(sealing, request, { tool_name: tool.name, parameters }),
    shown: expose(parameters, declaration).parameters,
  };
}
