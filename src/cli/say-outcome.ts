// What a run came to, in words: its reply, or whom it waits for and what to type then.
import { isMap, type JsonMap } from "../contracts/json.ts";

export function sayOutcome(outcome: JsonMap): readonly string[] {
  const { status, final_content, id } = outcome;
  if (status === "queued") return [`Queued as ${String(id)}.`];
  const reply = typeof final_content === "string" && final_content !== "" ? [final_content] : [];
  if (status === "completed") return reply.length > 0 ? reply : ["Done."];
  return [...reply, ...standing(outcome)];
}

function standing({ status, thread_id, waiting_for, failure }: JsonMap): readonly string[] {
  const { request_id, shown } = isMap(waiting_for) ? waiting_for : {};
  const { summary, tool_name } = isMap(shown) ? shown : {};
  if (status === "approval_required") {
    return [
      `Waits for a decision: ${String(summary ?? tool_name)}`,
      `  holdfast approvals accept ${String(request_id)}`,
      `  holdfast approvals reject ${String(request_id)}`,
    ];
  }
  if (status === "runtime_tool_pending") {
    return [
      `Waits for the result of ${String(tool_name)}:`,
      `  holdfast requests submit ${String(request_id)} --result '…'`,
    ];
  }
  const why = isMap(failure) && typeof failure.message === "string" ? `: ${failure.message}` : ".";
  return [`The run is ${String(status)}${why}`, `  holdfast doctor ${String(thread_id)}`];
}
