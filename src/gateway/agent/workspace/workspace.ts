// The workspace port: the files of one run. They stand outside of the gateway's transactions, so writing them again, when
// a turn is repeated, changes nothing.
import type { Json } from "../../../contracts/json.ts";

/** The files of a run that are written as a whole. */
export type NoteFile = "context.md" | "memory.md" | "plan.md";

export type Phase = "frame" | "plan" | "act" | "reflect";

/** One line of `trace.jsonl`. */
export type TraceLine = {
  readonly ts: string;
  readonly run_id: string;
  readonly step: number;
  readonly attempt: number;
  readonly phase: Phase;
  /** What came of the phase, such as `request` or `escalated`. */
  readonly kind: string;
  readonly job_id: string;
  readonly summary: string;
};

export interface RunWorkspace {
  /** Empty when there is no such file. */
  read(file: NoteFile): Promise<string>;
  /** Replaces the file as a whole: readers see the old one or the new one. */
  write(file: NoteFile, content: string): Promise<void>;
  /**
   * Adds lines of a job. An incomplete last line, and lines that an earlier try of the same job has left at the end, are
   * removed first.
   */
  appendTrace(jobId: string, lines: readonly TraceLine[]): Promise<void>;
  /** Every complete line that is a JSON object. */
  readTrace(): Promise<readonly Json[]>;
  /** Writes a file below `artifacts/`, named by its path in the workspace. */
  writeArtifact(path: string, content: string): Promise<void>;
  /** Undefined when it is not there. */
  readArtifact(path: string): Promise<string | undefined>;
  /** True for a file inside the workspace, once symbolic links are resolved. */
  hasArtifact(path: string): Promise<boolean>;
}

export interface AgentWorkspaces {
  /** The workspace of a reference such as `job:<id>`. Throws `invalid_argument` for a reference that names no folder. */
  of(ref: string): RunWorkspace;
  /**
   * Removes the workspace with everything in it; one that is not there is fine. `unknown`: where it is cannot be told now, so
   * that its run has to be kept.
   */
  remove(ref: string): Promise<"removed" | "unknown">;
}

/** True for a relative path without `..`: one that can only lead outside through a symbolic link. */
export function isInnerPath(path: string): boolean {
  if (path === "" || path.length > 1024 || path.startsWith("/") || /[\\\0]/.test(path) || /^[a-z]:/i.test(path))
    return false;
  return path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}
