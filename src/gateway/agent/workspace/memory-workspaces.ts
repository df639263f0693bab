// Workspaces without a disk: for turns that are only looked at, as in the conformance suite and in tests.
import type { Json } from "../../../contracts/json.ts";
import { type AgentWorkspaces, isInnerPath, type RunWorkspace, type TraceLine } from "./workspace.ts";

export type MemoryWorkspaces = AgentWorkspaces & {
  /** By reference, the files of a run by their paths. */
  readonly files: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly traces: ReadonlyMap<string, readonly TraceLine[]>;
};

/** `exists` answers for files that tools would have made. */
export function memoryWorkspaces({
  exists = () => false,
}: {
  readonly exists?: (path: string) => boolean;
} = {}): MemoryWorkspaces {
  const files = new Map<string, Map<string, string>>();
  const traces = new Map<string, TraceLine[]>();

  function workspace(ref: string): RunWorkspace {
    const write = async (path: string, content: string) => {
      const own = files.get(ref) ?? new Map<string, string>();
      files.set(ref, own.set(path, content));
    };
    return {
      read: async (file) => files.get(ref)?.get(file) ?? "",
      write,
      async appendTrace(jobId, lines) {
        const kept = [...(traces.get(ref) ?? [])];
        while (kept.at(-1)?.job_id === jobId) kept.pop();
        traces.set(ref, [...kept, ...lines]);
      },
      readTrace: async () => (traces.get(ref) ?? []) as readonly Json[],
      writeArtifact: write,
      readArtifact: async (path) => files.get(ref)?.get(path),
      hasArtifact: async (path) => isInnerPath(path) && (files.get(ref)?.has(path) === true || exists(path)),
    };
  }

  return {
    files,
    traces,
    of: workspace,
    async remove(ref) {
      files.delete(ref);
      traces.delete(ref);
      return "removed";
    },
  };
}
