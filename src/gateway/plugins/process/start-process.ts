// Starts a program in a process group of its own, connected to us by stdin, stdout and stderr.
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { openNamedStreams } from "./named-streams.ts";

export type Spawn = typeof spawn;

export type RunningProcess = {
  /** Also the number of its group. */
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Calls back once, when the process itself has exited; its children may still run. Null after a signal. */
  onExit(callback: (code: number | null) => void): void;
  /** Closes its streams, and waits for it no longer. */
  release(): void;
};

export type StartOptions = {
  /** Executed as it is: no arguments, no shell, our working directory. */
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
  /** For its stdin, which ends after it. A process that does not read it fails nothing. */
  readonly input: string;
  readonly spawn?: Spawn;
  /** Makes the standard streams; where it makes none, Node connects the process by sockets. */
  readonly openStreams?: typeof openNamedStreams;
};

/** Rejects when the file cannot be started; a process that runs is returned before anything of it can be missed. */
export async function startProcess(options: StartOptions): Promise<RunningProcess> {
  const { file, environment, input, spawn: start = spawn, openStreams = openNamedStreams } = options;
  const named = openStreams(input);
  let outputs: { readonly stdout: Readable; readonly stderr: Readable } | undefined;
  let child: ChildProcess;
  try {
    const stdio = named ? [...named.childEnds] : "pipe";
    child = start(file, [], { env: { ...environment }, detached: true, stdio });
    child.on("error", () => {}); // after the start only its exit counts
  } finally {
    outputs = named?.connect();
    for (const stream of Object.values(outputs ?? {})) stream.on("error", () => {});
  }
  const release = () => {
    child.unref();
    for (const stream of [child.stdin, outputs?.stdout, outputs?.stderr]) stream?.destroy();
  };
  try {
    await started(child);
    outputs ??= writeThrough(child, input);
    if (child.pid === undefined) throw new Error(`${file} has no process id.`);
    const onExit = (callback: (code: number | null) => void) => void child.once("exit", callback);
    return { pid: child.pid, ...outputs, onExit, release };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}

/** The streams that Node has made, with the input on its way. */
function writeThrough({ stdin, stdout, stderr }: ChildProcess, input: string) {
  if (!stdin || !stdout || !stderr) throw new Error("The process has no standard streams.");
  for (const stream of [stdin, stdout, stderr]) stream.on("error", () => {});
  stdin.end(input);
  return { stdout, stderr };
}
