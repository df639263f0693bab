// A claimed job with everything that its row refers to.
import type { ClaimedJob } from "../../../backend/gateway/job-store.ts";
import type { Step } from "../../../contracts/gateway/pipelines/pipeline-graph.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { ExecutedJob } from "./executed-job.ts";
import type { Failure } from "./settle.ts";

export type Opened = {
  readonly job: ClaimedJob;
  readonly plugin: Plugin | undefined;
  readonly step: Step | undefined;
  readonly isSwitch: boolean;
  readonly payload: JsonMap;
  readonly executed: ExecutedJob;
  /** Why the job cannot run. */
  readonly problem?: Failure;
};
