// What somebody submits for a request, in the one form that is stored.
import type { StoredRequest } from "../../backend/request-store.ts";
import { holdfastError } from "../../contracts/error.ts";
import { isMap, type JsonMap, snapshot, snapshotMap } from "../../contracts/json.ts";

/** What is stored as the answer, and what is only acted upon. */
export type ReadAnswer = {
  readonly answer: JsonMap;
  /** Parameters to be replaced, by name. */
  readonly edits: JsonMap | null;
  readonly remember: boolean;
};

/** Throws `invalid_answer` with what the request takes. */
export function readAnswer({ id, kind }: StoredRequest, given: unknown): ReadAnswer {
  const answer = snapshot(given);
  const invalid = (detail: string) => holdfastError("invalid_answer", `Request "${id}" takes ${detail}.`);
  if (!isMap(answer)) throw invalid("a map");
  if (kind === "approval") {
    const read = readDecision(answer as JsonMap);
    if (!read) throw invalid('{ decision: "accepted" or "rejected", reason?, by?, parameters?, remember? }');
    return read;
  }
  const fields = Object.keys(answer);
  const isError = fields.length === 1 && typeof answer.error === "string";
  const isResult = fields.length === 1 && fields[0] === "result";
  if (!isError && !isResult) throw invalid("{ result } or { error } with a text");
  return { answer: snapshotMap({ ...answer, success: isResult }), edits: null, remember: false };
}

function readDecision(given: JsonMap): ReadAnswer | undefined {
  const { decision, reason, by, parameters, remember = false, ...more } = given;
  if (decision !== "accepted" && decision !== "rejected") return undefined;
  if (![reason, by].every((words) => words === undefined || typeof words === "string")) return undefined;
  if (typeof remember !== "boolean") return undefined;
  // A call that is not to run has no parameters to be changed.
  if (parameters !== undefined && !(isMap(parameters) && decision === "accepted")) return undefined;
  // A yes to other parameters is no yes to whatever the next call may have.
  if (parameters !== undefined && remember) return undefined;
  // What came of an action that the tool itself applied may be told with the decision.
  if (!Object.keys(more).every((field) => field === "result" || field === "error")) return undefined;
  const stored = { decision, ...(reason !== undefined && { reason }), ...(by !== undefined && { by }), ...more };
  return {
    answer: snapshotMap({ ...stored, ...(remember && { remember }) }),
    edits: parameters === undefined ? null : snapshotMap(parameters),
    remember,
  };
}
