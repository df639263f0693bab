// Starts a program in a process group of its own, connected to us by stdin, stdout and stderr.
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { type NamedStreams, openNamedStreams, type StandardStreams } from "./named-streams.ts";

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
  readonly openStreams?: () => ReturnType<typeof openNamedStreams>;
};

/** Rejects when the file cannot be started; a process that runs is returned before anything of it can be missed. */
export async function startProcess(options: StartOptions): Promise<RunningProcess> {
  const { openStreams = openNamedStreams } = options;
  const named = await openStreams();
  try {
    return await startWith(named, options);
  } catch (thrown) {
    named?.release();
    throw thrown;
  }
}

async function startWith(named: NamedStreams | undefined, options: StartOptions): Promise<RunningProcess> {
  const { file, environment, input, spawn: start = spawn } = options;
  const stdio = named ? [...named.childEnds] : "pipe";
  const child = start(file, [], { env: { ...environment }, detached: true, stdio });
  child.on("error", () => {}); // after the start only its exit counts
  named?.closeChildEnds();
  await started(child);
  const streams = named?.streams ?? streamsOf(child);
  const { stdout, stderr } = streams;
  if (child.pid === undefined) throw new Error(`${file} has no process id.`);
  streams.stdin.end(input);
  const onExit = (callback: (code: number | null) => void) => void child.once("exit", callback);
  const release = () => {
    child.unref();
    for (const stream of Object.values(streams)) stream.destroy();
    named?.release();
  };
  return { pid: child.pid, stdout, stderr, onExit, release };
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}

/** Those that Node has made. */
function streamsOf({ stdin, stdout, stderr }: ChildProcess): StandardStreams {
  if (!stdin || !stdout || !stderr) throw new Error("The process has no standard streams.");
  for (const stream of [stdin, stdout, stderr]) stream.on("error", () => {});
  return { stdin, stdout, stderr };
}
