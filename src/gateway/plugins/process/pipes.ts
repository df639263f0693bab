// Pipes for the standard streams of plugins. Node cannot make any. A shell can, and what another process of ours has
// open can be opened here, by Linux' /proc. They have no name in a folder: the reader of a named pipe that is opened late would
// wait for a writer even when the last has gone.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

/** Descriptors that keep the pipes in existence, but are neither of their ends. */
export type Pipes = { readonly stdin: number; readonly stdout: number; readonly stderr: number };

/** Unused ones. Undefined when none can be made. */
export async function takePipes(start: typeof spawn = spawn): Promise<Pipes | undefined> {
  for (let pipes = free.pop(); pipes; pipes = free.pop()) {
    if (Object.values(pipes).every(isUnused)) return pipes;
    for (const pipe of Object.values(pipes)) closeSync(pipe); // a process that an earlier plugin left behind uses it
  }
  return makePipes(start);
}

export function returnPipes(pipes: Pipes): void {
  free.push(pipes);
}

/** Opens an end of the pipe. */
export function openEnd(pipe: number, flags: number): number {
  return openSync(`/proc/self/fd/${pipe}`, flags);
}

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/** Of Linux; Node has no name for it. */
const O_PATH = 0o10000000;

/** As many as plugins have run at once. */
const free: Pipes[] = [];

/** No process has an end of it. What was never read went with the last one. */
function isUnused(pipe: number): boolean {
  const hasNoReader = attempt(pipe, O_WRONLY, (end) => writeSync(end, "\n")) === "EPIPE";
  return hasNoReader && attempt(pipe, O_RDONLY, (end) => readSync(end, new Uint8Array(1))) === 0;
}

/** What it answers, or the code of its error: EAGAIN where a reader would wait for a writer. */
function attempt(pipe: number, flags: number, act: (end: number) => number): number | string | undefined {
  let end: number | undefined;
  try {
    end = openEnd(pipe, flags | O_NONBLOCK);
    return act(end);
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown ? String(thrown.code) : undefined;
  } finally {
    if (end !== undefined) closeSync(end);
  }
}

/** Has the reading ends of three pipes, says which process it is, and ends with its stdin. */
const SCRIPT = `exec 3<&0
: | { exec 4<&0
: | { exec 5<&0
: | { exec 6<&0 <&3; read -r pid rest </proc/self/stat; echo "$pid"; read -r rest; }; }; }`;

async function makePipes(start: typeof spawn): Promise<Pipes | undefined> {
  let shell: ChildProcess | undefined;
  let pipes: Pipes | undefined;
  try {
    shell = start("/bin/sh", ["-c", SCRIPT], { env: {}, stdio: ["pipe", "pipe", "ignore"] });
    shell.on("error", () => {}); // its output ends then
    if (!shell.stdout) return undefined; // no descriptor is left
    for await (const pid of createInterface({ input: shell.stdout })) {
      pipes = pipesOf(pid);
      shell.stdin?.destroy();
    }
    return pipes;
  } catch {
    return undefined;
  } finally {
    shell?.stdin?.destroy();
    shell?.stdout?.destroy();
  }
}

function pipesOf(pid: string): Pipes {
  const opened: number[] = [];
  try {
    for (const end of [4, 5, 6]) opened.push(openSync(`/proc/${pid}/fd/${end}`, O_PATH));
    const [stdin = -1, stdout = -1, stderr = -1] = opened.splice(0);
    return { stdin, stdout, stderr };
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
