// What the dispatcher depends on.
import type { GatewayStores } from "../../backend/gateway/gateway-stores.ts";
import type { LogLevel } from "../../contracts/gateway/protocol/response.ts";
import type { OnCrashPoint } from "../../engine/crash-points.ts";
import type { SealedJson } from "./commit/sealed-json.ts";
import type { Applied } from "./execute/executed-job.ts";
import type { Opened } from "./execute/opened-job.ts";

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
  /** Called when the event stream has new entries that no commit has made. */
  readonly announce: () => void;
  /** Called after every commit, before the next job of the plugin is claimed here. Must not throw. */
  readonly committed: (job: Opened, applied: Applied) => Promise<void>;
};
