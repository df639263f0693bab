// The events of a successful job as they are routed.

import { type PipelinePlace, STEP_SUCCEEDED } from "../../contracts/gateway/job.ts";
import type { EmittedEvent } from "../../contracts/gateway/protocol/event.ts";
import type { OkResponse } from "../../contracts/gateway/protocol/response.ts";
import type { JsonMap } from "../../contracts/json.ts";

/**
 * The events of a response, each with the text of the response as `result` and where it comes from, unless its payload
 * says so itself. A pipeline step that emitted none gets one, so that the steps behind it run.
 */
export function emittedEvents(
  response: Pick<OkResponse, "events" | "result">,
  emitter: { readonly plugin: string; readonly place: PipelinePlace | null },
): readonly EmittedEvent[] {
  const { events, result } = response;
  const additions: JsonMap = {
    result,
    ductile_upstream_plugin: emitter.plugin,
    ...(emitter.place && {
      ductile_upstream_pipeline: emitter.place.pipeline,
      ductile_upstream_step_id: emitter.place.step_id,
    }),
  };
  const emitted = events.length === 0 && emitter.place ? [{ type: STEP_SUCCEEDED, payload: {} }] : events;
  return emitted.map((event) => ({ ...event, payload: { ...additions, ...event.payload } }));
}
