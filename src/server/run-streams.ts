// Following a run of a workflow over HTTP, as server-sent events: every event has an id with which a reader comes back, and the
// stream ends with the run.
import { isOperationError, operationError, operationErrorOf } from "../contracts/operation-error.ts";
import { FOLLOW_WORKFLOW_RUN, type ShownRunEvent } from "../workflows/operations/events.ts";
import type { Mount } from "./door.ts";
import { eventStream, type Frame } from "./event-stream.ts";
import { problem, problemOf } from "./problem.ts";
import type { ServerOptions } from "./server-options.ts";
import { EVENT_ID, endFrame } from "./streams.ts";

export function runStreamsDoor({ heartbeatMs, retryMs }: Pick<ServerOptions, "heartbeatMs" | "retryMs">): Mount {
  const pace = { ...(heartbeatMs !== undefined && { heartbeatMs }), ...(retryMs !== undefined && { retryMs }) };
  return (app, { holdfast, closing }) => {
    app.get("/workflow-runs/:run_id/stream", async (context) => {
      // An EventSource comes back with the same query, and says in a header where it was.
      const after = context.req.header("last-event-id") || context.req.query("after");
      if (after !== undefined && !EVENT_ID.test(after)) {
        return problem(context, operationError("invalid_stream_position", `"${after}" is no id of an event.`));
      }
      const leaving = new AbortController();
      const input = { run_id: context.req.param("run_id"), ...(after !== undefined && { after }) };
      const caller = { principal: context.get("principal"), door: "http", signal: leaving.signal } as const;
      const events = await holdfast.abilities.call(FOLLOW_WORKFLOW_RUN, input, caller);
      if (isOperationError(events)) return problem(context, events);
      const frames = framesOf(events as AsyncIterable<ShownRunEvent>, context.get("requestId"), leaving.signal);
      return eventStream(context, frames, { closing, leaving, ...pace });
    });
  };
}

async function* framesOf(
  events: AsyncIterable<ShownRunEvent>,
  requestId: string,
  leaving: AbortSignal,
): AsyncGenerator<Frame> {
  try {
    for await (const event of events) yield { id: event.id, data: JSON.stringify(event) };
    if (!leaving.aborted) yield endFrame({ type: "stream.ended" });
  } catch (thrown) {
    const refusal = operationErrorOf(thrown, "internal_error");
    yield endFrame({ ...problemOf(refusal, requestId), type: "stream.failed" });
  }
}
