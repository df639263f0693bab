// Standard streams that a plugin can open again by name, as between the programs of a shell. Node connects its children
// by sockets, and on Linux those cannot be opened: `jq . /dev/stdin` and `echo … > /dev/stderr`, both usual in plugins,
// fail on them. Pipes can, and every reader takes them: Python's asyncio refuses a file as stdin.
import type { spawn } from "node:child_process";
import { closeSync, constants } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { openEnd, type Pipes, returnPipes, takePipes } from "./pipes.ts";

export type StandardStreams = { readonly stdin: Writable; readonly stdout: Readable; readonly stderr: Readable };

export type NamedStreams = {
  /** Descriptors for the child's stdin, stdout and stderr. */
  readonly childEnds: readonly number[];
  /** Call once the child has its own. */
  closeChildEnds(): void;
  /** Our ends. Their errors are of no interest: a child may close what it likes. */
  readonly streams: StandardStreams;
  /** Closes what is still open; later plugins get the same pipes. */
  release(): void;
};

/** Undefined where such streams cannot be made: on other systems than Linux, or when no descriptor is left. */
export async function openNamedStreams(start?: typeof spawn): Promise<NamedStreams | undefined> {
  const pipes = process.platform === "linux" ? await takePipes(start) : undefined;
  if (!pipes) return undefined;
  const opened: number[] = [];
  const open = (pipe: keyof Pipes, flags: number) => {
    const end = openEnd(pipes[pipe], flags);
    opened.push(end);
    return end;
  };
  try {
    const childEnds = [open("stdin", O_RDONLY), open("stdout", O_WRONLY), open("stderr", O_WRONLY)];
    const [input, output, errors] = [open("stdin", WRITER), open("stdout", READER), open("stderr", READER)];
    opened.length = 0;
    const streams = { stdin: writable(input), stdout: readable(output), stderr: readable(errors) };
    for (const stream of Object.values(streams)) stream.on("error", () => {});
    const closeChildEnds = () => {
      for (const descriptor of childEnds.splice(0)) closeSync(descriptor);
    };
    const release = () => {
      closeChildEnds();
      for (const stream of Object.values(streams)) stream.destroy();
      returnPipes(pipes);
    };
    return { childEnds, closeChildEnds, streams, release };
  } catch {
    returnPipes(pipes);
    return undefined;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const READER = O_RDONLY | O_NONBLOCK;
const WRITER = O_WRONLY | O_NONBLOCK;

const readable = (fd: number) => new Socket({ fd, readable: true, writable: false });
const writable = (fd: number) => new Socket({ fd, readable: false, writable: true });
