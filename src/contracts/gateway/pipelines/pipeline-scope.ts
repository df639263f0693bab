// What the paths of pipelines are looked up in.
import type { PathScope } from "../../predicates/paths.ts";

/** `config` is that of a plugin, which only steps have. */
export const pipelineRoots = ["payload", "context", "config"] as const;

export type PipelineScope = PathScope<(typeof pipelineRoots)[number]>;
