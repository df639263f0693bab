// What the command line prints, and where: answers on stdout, everything about them on stderr. Colour and progress are for
// people; whoever reads through a pipe gets plain lines, or JSON with --json.
import { createInterface, type Interface } from "node:readline";
import { styleText } from "node:util";
import { createLiveArea, type LiveArea } from "./live-area.ts";
import type { Refusal } from "./refusal.ts";

type Style = Parameters<typeof styleText>[0];

export interface Terminal {
  readonly isJson: boolean;
  /** True when a person sits in front of it, and can be asked. */
  readonly isInteractive: boolean;
  /** An answer: as JSON when that was asked for, else the lines that are made of it. */
  answer<Value>(value: Value, lines: (value: Value) => readonly string[] | string): void;
  /** A piece of an answer as it comes; nothing with --json. */
  write(text: string): void;
  /** A secret for the person in front of it: nothing through a pipe, where it might be kept, nor with --json. */
  confide(text: string): void;
  /** About the work, on stderr; nothing with --quiet or --json. */
  note(text: string): void;
  refuse(refusal: Refusal): void;
  style(style: Style, text: string): string;
  /** How far a long work has come: one line that is written over on a terminal, and nothing through a pipe. */
  progress(done: number, of: number, what: string): void;
  /** Lines that are written over as they change; undefined through a pipe, without colour, and with --json or --quiet. */
  readonly live: LiveArea | undefined;
  /** Asks the person in front of it; undefined when there is none, or when the input has ended. */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
  close(): void;
}

export type TerminalOptions = {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
  /** Called when the person interrupts by a key that only whoever reads the keys gets to see. */
  interrupt(): void;
};

export function createTerminal(options: TerminalOptions): Terminal {
  const { json, quiet, stdin, stdout, stderr, env, interrupt } = options;
  const hasColour = !json && stdout.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  let isInProgress = false;
  /** What was shown last of how far it is. */
  let shown = "";
  let isOver = false;
  let reader: { readonly lines: AsyncIterator<string>; readonly source: Interface } | undefined;

  /** One for all questions: a pipe brings several lines at once, and none may be lost between two of them. */
  function readLines() {
    if (!reader) {
      const source = createInterface({ input: stdin, output: stdout, terminal: stdin.isTTY === true });
      // It would end the input and nothing else, in the middle of an answer too.
      source.on("SIGINT", interrupt);
      source.once("close", () => {
        isOver = true;
      });
      reader = { source, lines: source[Symbol.asyncIterator]() };
    }
    return reader;
  }

  function endProgress(): void {
    if (isInProgress) stderr.write("\r\x1b[K");
    isInProgress = false;
  }

  const live = hasColour && !quiet ? createLiveArea(stdout) : undefined;

  return {
    isJson: json,
    live,
    isInteractive: stdin.isTTY === true && stdout.isTTY === true && !json,
    answer(value, lines) {
      endProgress();
      if (json) stdout.write(`${JSON.stringify(value)}\n`);
      else for (const line of [lines(value)].flat()) stdout.write(`${line}\n`);
    },
    write(text) {
      if (!json) stdout.write(text);
    },
    confide(text) {
      if (!json && stdout.isTTY === true) stdout.write(`${text}\n`);
    },
    note(text) {
      endProgress();
      if (!json && !quiet) stderr.write(`${text}\n`);
    },
    refuse({ code, message, hint }) {
      endProgress();
      if (json) stderr.write(`${JSON.stringify({ error: { code, message, ...(hint !== undefined && { hint }) } })}\n`);
      else stderr.write(`holdfast: ${code}: ${message}\n${hint === undefined ? "" : `holdfast: ${hint}\n`}`);
    },
    style: (style, text) => (hasColour ? styleText(style, text, { validateStream: false }) : text),
    progress(done, of, what) {
      if (json || quiet || stderr.isTTY !== true) return;
      const share = of === 0 ? 1 : Math.min(1, done / of);
      // A hundredth is all that anybody sees, and a terminal may take longer to write than the work itself.
      const step = `${Math.floor(share * 100)} ${of} ${what}`;
      if (isInProgress && step === shown) return;
      shown = step;
      const width = 24;
      const filled = Math.round(share * width);
      stderr.write(`\r\x1b[K[${"█".repeat(filled)}${"·".repeat(width - filled)}] ${done}/${of} ${what}`);
      isInProgress = true;
    },
    async ask(question, signal) {
      const { source, lines } = readLines();
      const leave = () => source.close();
      if (signal?.aborted) leave();
      signal?.addEventListener("abort", leave, { once: true });
      // A pipe is not asked: it has said all it has to say.
      if (stdin.isTTY === true && !isOver) {
        source.setPrompt(question);
        source.prompt();
      }
      const { value, done } = await lines.next();
      signal?.removeEventListener("abort", leave);
      return done ? undefined : value;
    },
    close: () => reader?.source.close(),
  };
}

/** Behind a list that is not whole: what goes on after the last one. */
export function noteMore(terminal: Pick<Terminal, "note">, last: string | undefined): void {
  if (last !== undefined) terminal.note(`There are more: --after ${last}`);
}

/** Columns as wide as what stands in them; the last one is as long as it is. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0),
  );
  return rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  "),
  );
}
