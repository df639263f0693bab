// Lines of a drawing as they are written into a terminal: no wider and no more than there is room for. What is at work, waits or
// failed stays, and what is close to it; of what is left out the number is told.
import type { LineKind, TreeLine } from "./draw-run.ts";

export type Room = {
  /** Columns; as many as there are unless given. */
  readonly width?: number;
  readonly height?: number;
};

export type Paint = (kind: LineKind, text: string) => string;

/** Each line on its own, without an end of line. */
export function fitLines(
  lines: readonly TreeLine[],
  { width = Infinity, height = Infinity }: Room,
  paint: Paint,
): readonly string[] {
  const cut = (line: TreeLine) => textOf(line, width, paint);
  if (height === Infinity) return lines.flatMap(cut);
  const order = byImportance(lines);
  for (let kept = Math.min(lines.length, height); kept > 0; kept -= 1) {
    const written = withGaps(lines, new Set(order.slice(0, kept))).flatMap(cut);
    if (written.length <= height) return written;
  }
  return lines.slice(0, 1).flatMap(cut).slice(0, height);
}

const marks: Readonly<Record<LineKind, string>> = {
  ...{ pending: "·", running: "●", succeeded: "✓", failed: "✗", cancelled: "⊘", skipped: "-" },
  ...{ waiting: "◌", asks: "?", retrying: "↻", heading: "", command: "" },
};

function textOf({ kind, depth, text }: TreeLine, width: number, paint: Paint): readonly string[] {
  const indent = "  ".repeat(depth);
  const plain = printable(text);
  if (kind === "command") return wrapped(plain, indent, width).map((line) => paint(kind, shortened(line, width)));
  if (kind === "heading") return [paint(kind, shortened(`${indent}${plain}`, width))];
  const line = shortened(`${indent}${marks[kind]} ${plain}`, width);
  const mark = line.slice(indent.length, indent.length + 1);
  const rest = line.slice(indent.length + 1);
  // The mark alone has the colour; what is to come stands back as a whole.
  return [`${line.slice(0, indent.length)}${paint(kind, mark)}${standsBack(kind) ? paint("heading", rest) : rest}`];
}

function standsBack(kind: LineKind): boolean {
  return kind === "pending" || kind === "skipped";
}

/** Ids and names are of others: nothing in them moves the cursor. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, "?");
}

const segmenter = new Intl.Segmenter();

/** As a terminal counts them, and rather too many than too few. */
function columnsOf(cluster: string): number {
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}|[\u{1f000}-\u{3ffff}]/u.test(
    cluster,
  )
    ? 2
    : 1;
}

function shortened(text: string, width: number): string {
  if (width === Infinity) return text;
  let columns = 0;
  let kept = "";
  for (const { segment } of segmenter.segment(text)) {
    const wide = columnsOf(segment);
    if (columns + wide > width) return `${withoutLast(kept, columns < width)}…`;
    columns += wide;
    kept += segment;
  }
  return kept;
}

/** Makes room for the mark that something is missing. */
function withoutLast(text: string, hasRoom: boolean): string {
  return hasRoom
    ? text
    : [...segmenter.segment(text)]
        .slice(0, -1)
        .map(({ segment }) => segment)
        .join("");
}

/** A command that is copied from several lines is still one to a shell. */
function wrapped(command: string, indent: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of command.split(" ")) {
    const longer = line === indent || line.trim() === "" ? `${line}${word}` : `${line} ${word}`;
    if (longer.length + 2 > width && line.trim() !== "") {
      lines.push(`${line} \\`);
      line = `${indent}  ${word}`;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}

const ranks: Readonly<Record<LineKind, number>> = {
  ...{ asks: 0, waiting: 0, command: 0, failed: 0, running: 0, retrying: 0 },
  ...{ heading: 1, cancelled: 1, skipped: 1, pending: 1, succeeded: 1 },
};

/** Positions, those first that are to stay. */
function byImportance(lines: readonly TreeLine[]): readonly number[] {
  const distances = distancesToImportant(lines);
  const rank = (at: number) => (at === 0 ? -1 : (ranks[lines[at]?.kind ?? "pending"] ?? 1));
  const depth = (at: number) => lines[at]?.depth ?? 0;
  return lines
    .map((_, at) => at)
    .sort(
      (one, other) =>
        rank(one) - rank(other) ||
        (distances[one] ?? 0) + 3 * depth(one) - (distances[other] ?? 0) - 3 * depth(other) ||
        one - other,
    );
}

function distancesToImportant(lines: readonly TreeLine[]): readonly number[] {
  // The first line is about the run as a whole.
  const distances = lines.map(({ kind }, at) => (at > 0 && ranks[kind] === 0 ? 0 : lines.length));
  for (let at = 1; at < distances.length; at += 1) {
    distances[at] = Math.min(distances[at] ?? 0, (distances[at - 1] ?? 0) + 1);
  }
  for (let at = distances.length - 2; at >= 0; at -= 1) {
    distances[at] = Math.min(distances[at] ?? 0, (distances[at + 1] ?? 0) + 1);
  }
  return distances;
}

function withGaps(lines: readonly TreeLine[], kept: ReadonlySet<number>): readonly TreeLine[] {
  const shown: TreeLine[] = [];
  let gap: TreeLine[] = [];
  const close = () => {
    const [first] = gap;
    if (first) shown.push({ kind: "heading", depth: Math.min(...gap.map(({ depth }) => depth)), text: gapText(gap) });
    gap = [];
  };
  for (const [at, line] of lines.entries()) {
    if (!kept.has(at)) {
      gap.push(line);
      continue;
    }
    close();
    shown.push(line);
  }
  close();
  return shown;
}

function gapText(gap: readonly TreeLine[]): string {
  const steps = gap.filter(({ kind }) => kind !== "command" && kind !== "heading");
  if (steps.length === 0) return "…";
  const all = (kind: LineKind) => steps.every((step) => step.kind === kind);
  const what = all("succeeded") ? "done" : all("pending") ? "to come" : "more";
  return `… ${steps.length} ${what}`;
}
