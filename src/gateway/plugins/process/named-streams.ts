// Standard streams that a plugin can open again by name. Node connects its children by sockets, and on Linux those
// cannot be opened: `jq . /dev/stdin` and `echo … > /dev/stderr`, both usual in plugins, fail on them. Here stdin is a
// file in memory, and stdout and stderr are pipes. Neither has a name in a folder while a plugin uses it.
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, unlinkSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";

export type NamedStreams = {
  /** Descriptors for the child's stdin, stdout and stderr. */
  readonly childEnds: readonly [number, number, number];
  /** Our ends. Call once the child has its own, or did not start. */
  connect(): { readonly stdout: Readable; readonly stderr: Readable };
};

/** Undefined where such streams cannot be made: on other systems than Linux, or when no descriptor is left. */
export function openNamedStreams(input: string): NamedStreams | undefined {
  const pipes = process.platform === "linux" ? takePipes() : undefined;
  if (!pipes) return undefined;
  const opened: number[] = [];
  const open = (descriptor: number, flags: number) => {
    opened.push(reopen(descriptor, flags));
    return opened.at(-1) ?? -1;
  };
  try {
    const stdin = memoryFile(input);
    opened.push(stdin);
    const childEnds = [stdin, open(pipes.stdout, O_WRONLY), open(pipes.stderr, O_WRONLY)] as const;
    const [stdout, stderr] = [open(pipes.stdout, READER), open(pipes.stderr, READER)];
    opened.length = 0;
    return {
      childEnds,
      connect() {
        for (const descriptor of childEnds) closeSync(descriptor);
        const streams = { stdout: readable(stdout), stderr: readable(stderr) };
        let inUse = 2;
        for (const stream of Object.values(streams)) stream.once("close", () => --inUse === 0 && free.push(pipes));
        return streams;
      },
    };
  } catch {
    free.push(pipes);
    return undefined;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const READER = O_RDONLY | O_NONBLOCK;

/** What Linux lets a pipe hold at most, unless its settings were changed. */
const LARGEST_PIPE = 1024 * 1024;

/** A reader of each, which keeps the pipe in existence from one plugin to the next. */
type Pipes = { readonly stdout: number; readonly stderr: number };

/** As many as plugins have run at once. */
const free: Pipes[] = [];

/** A program of every POSIX system. */
const MKFIFO = "mkfifo";

/** Without it there is no use in trying again. */
let isUnavailable = false;

function takePipes(): Pipes | undefined {
  for (let pipes = free.pop(); pipes; pipes = free.pop()) {
    if (isUnused(pipes.stdout) && isUnused(pipes.stderr)) return pipes;
    discard(pipes); // a process that an earlier plugin left behind can still write to it
  }
  return isUnavailable ? undefined : makePipes();
}

/** Node cannot make a pipe, so these are made by mkfifo; their names are removed at once. */
function makePipes(): Pipes | undefined {
  const opened: number[] = [];
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "holdfast-pipes-"));
    const names = [join(folder, "stdout"), join(folder, "stderr")];
    const { status, error } = spawnSync(MKFIFO, names, { stdio: "ignore", env: { PATH: process.env.PATH } });
    isUnavailable = error ? "code" in error && error.code === "ENOENT" : status !== 0;
    for (const name of names) opened.push(openSync(name, READER));
    const [stdout = -1, stderr = -1] = opened.splice(0);
    return { stdout, stderr };
  } catch {
    return undefined;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads what an earlier plugin has left in the pipe: without a writer it is at its end then. */
function isUnused(pipe: number): boolean {
  try {
    if (readSync(pipe, new Uint8Array(1)) === 0) return true;
    readSync(pipe, new Uint8Array(LARGEST_PIPE));
    return readSync(pipe, new Uint8Array(1)) === 0;
  } catch {
    return false; // EAGAIN: more may come
  }
}

function discard({ stdout, stderr }: Pipes): void {
  closeSync(stdout);
  closeSync(stderr);
}

/** Requests hold secrets: this one is never on a disk, and has no name by the time it has content. */
function memoryFile(content: string): number {
  const name = `/dev/shm/holdfast-${randomUUID()}`;
  const file = openSync(name, "wx+", 0o600);
  try {
    unlinkSync(name);
    const bytes = Buffer.from(content);
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
    return reopen(file, O_RDONLY);
  } finally {
    closeSync(file);
  }
}

function reopen(descriptor: number, flags: number): number {
  return openSync(`/proc/self/fd/${descriptor}`, flags);
}

const readable = (fd: number) => new Socket({ fd, readable: true, writable: false });
