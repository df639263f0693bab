// What a job adds to its tree, in plain JSON: nothing is sealed before the commit is made.
import type { PipelinePlace } from "../../../contracts/gateway/job.ts";
import type { JsonMap } from "../../../contracts/json.ts";

export type Child = {
  readonly id: string;
  readonly plugin: string;
  readonly command: string;
  readonly payload: JsonMap;
  readonly submitted_by: string;
  readonly source_event_id: string | null;
  readonly context_id: string | null;
  readonly place: PipelinePlace | null;
  readonly dedupe_key: string | null;
  readonly max_attempts: number;
  readonly waits_for_instance: string | null;
  /** Not counted against the limit of the tree: an agent has to hear of a failure, and its run to end, in a full tree too. */
  readonly is_exempt: boolean;
};

export type Context = {
  readonly id: string;
  readonly parent_id: string | null;
  readonly pipeline: string;
  readonly step_id: string;
  readonly accumulated: JsonMap;
};

/** An entry of the event stream: names, ids and states; never a payload. */
export type StreamEvent = { readonly type: string; readonly data: JsonMap };
