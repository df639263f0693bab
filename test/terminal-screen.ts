// A terminal as far as our drawings need one: what stands on its screen after what was written into it.
import { Writable } from "node:stream";

export type Screen = Writable & {
  readonly isTTY: true;
  columns: number;
  rows: number;
  /** Its lines from the top, without blanks at the end and without those below the last. */
  shown(): readonly string[];
  /** How often something was written. */
  readonly writes: number;
};

export function terminalScreen(columns = 80, rows = 24): Screen {
  let lines: string[] = [""];
  let [row, column] = [0, 0];
  let writes = 0;

  function put(character: string): void {
    // Behind the last column a line goes on in the next one.
    if (column >= screen.columns) [row, column] = [row + 1, 0];
    const line = (lines[row] ?? "").padEnd(column);
    lines[row] = `${line.slice(0, column)}${character}${line.slice(column + 1)}`;
    column += 1;
  }

  function control(count: string, command: string): void {
    if (command === "A") row = Math.max(0, row - Number(count || 1));
    if (command === "K") lines[row] = (lines[row] ?? "").slice(0, column);
    if (command === "J") lines = [...lines.slice(0, row), (lines[row] ?? "").slice(0, column)];
  }

  function write(text: string): void {
    writes += 1;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is controlled by them
    for (const [piece, count = "", command] of text.matchAll(/\x1b\[([\d;]*)([A-Za-z])|./gsu)) {
      if (command !== undefined) control(count, command);
      else if (piece === "\r") column = 0;
      else if (piece === "\n") [row, column] = [row + 1, 0];
      else put(piece);
    }
  }

  const screen = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        write(String(chunk));
        done();
      },
    }),
    {
      ...{ isTTY: true as const, columns, rows },
      shown() {
        const texts = Array.from({ length: lines.length }, (_, at) => (lines[at] ?? "").trimEnd());
        return texts.slice(0, texts.findLastIndex((line) => line !== "") + 1);
      },
    },
  );
  return Object.defineProperty(screen, "writes", { get: () => writes }) as unknown as Screen;
}
