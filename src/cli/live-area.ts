// The last lines of a terminal, written over in place. What is drawn goes out in one piece, and only where it has changed, so that
// nothing flickers.

export interface LiveArea {
  /** Columns and lines that a drawing may have: one less than there are, where a terminal would move everything up. */
  room(): { readonly width: number; readonly height: number };
  draw(lines: readonly string[]): void;
  /** What was drawn last stays, and what is printed next stands below it. */
  end(): void;
}

type Screen = Pick<NodeJS.WriteStream, "write" | "columns" | "rows" | "writableNeedDrain">;

export function createLiveArea(screen: Screen): LiveArea {
  let drawn: readonly string[] = [];
  let widthThen = 0;

  const widthNow = () => Math.max(1, (screen.columns || 80) - 1);

  /** How far up the first line is. A terminal that was made narrower has broken lines that were wider. */
  function linesAbove(): number {
    const width = widthNow();
    const broken = width < widthThen ? (line: string) => Math.ceil(plainLength(line) / (width + 1)) || 1 : () => 1;
    return drawn.reduce((sum, line) => sum + broken(line), 0) - 1;
  }

  return {
    room: () => ({ width: widthNow(), height: Math.max(1, (screen.rows || 24) - 1) }),
    draw(lines) {
      const isSame = lines.length === drawn.length && lines.every((line, at) => line === drawn[at]);
      // A terminal that cannot follow gets the next picture, and not every one.
      if ((isSame && widthThen === widthNow()) || screen.writableNeedDrain) return;
      const above = linesAbove();
      const back = drawn.length === 0 ? "" : `\r${above > 0 ? `\x1b[${above}A` : ""}`;
      screen.write(`${back}${lines.map((line) => `${line}\x1b[K`).join("\r\n")}\x1b[J`);
      drawn = lines;
      widthThen = widthNow();
    },
    end() {
      if (drawn.length > 0) screen.write("\r\n");
      drawn = [];
    },
  };
}

function plainLength(line: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are written with them
  return line.replaceAll(/\x1b\[[0-9;]*m/g, "").length;
}
