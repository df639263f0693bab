// What the dispatcher depends on.
import type { GatewayStores } from "../../backend/gateway/gateway-stores.ts";
import type { LogLevel } from "../../contracts/gateway/response.ts";
import type { OnCrashPoint } from "../../engine/crash-points.ts";
import type { Applied } from "./executed-job.ts";
import type { Opened } from "./opened-job.ts";
import type { SealedJson } from "./sealed-json.ts";

/** The job that a line of the log is about. */
export type LoggedJob = { readonly id: string; readonly plugin: string; readonly command: string };

export type DispatchDeps = GatewayStores & {
  readonly sealed: SealedJson;
  /** Replaces known secrets in a text. */
  readonly redact: (text: string) => string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly workspaceRoot: string;
  readonly worker: string;
  readonly onCrashPoint: OnCrashPoint;
  readonly log: (level: LogLevel, message: string, job: LoggedJob) => void;
  /** Called after every commit, before the next job of the plugin is claimed here. Must not throw. */
  readonly committed: (job: Opened, applied: Applied) => Promise<void>;
};
