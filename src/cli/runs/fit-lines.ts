// Lines of a drawing as they are written into a terminal: no wider and no more than there is room for. What is at work, waits or
// failed stays, and what is close to it; of what is left out the number is shown.
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

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}|[\u{1f000}-\u{3ffff}]/u;

/** As a terminal counts them, and rather too many than too few. */
function columnsOf(cluster: string): number {
  return WIDE.test(cluster) ? 2 : 1;
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

/** Of what is over or to come. */
const LEAST = 2;

/** First what waits, since a person may have to do something about it; then what is at work or failed. */
const ranks: Partial<Readonly<Record<LineKind, number>>> = {
  ...{ asks: 0, waiting: 0, failed: 1, running: 1, retrying: 1 },
};

/** Positions, those first that are to stay. */
function byImportance(lines: readonly TreeLine[]): readonly number[] {
  const rankings = ranksOf(lines);
  const distances = distancesTo(rankings);
  const rank = (at: number) => (at === 0 ? -1 : (rankings[at] ?? LEAST));
  // What is deeper says less about the run.
  const far = (at: number) => (distances[at] ?? 0) + 3 * (lines[at]?.depth ?? 0);
  return lines.map((_, at) => at).sort((one, other) => rank(one) - rank(other) || far(one) - far(other) || one - other);
}

/** A line is as important as what stands in it, and a command as the step that it is for. */
function ranksOf(lines: readonly TreeLine[]): readonly number[] {
  const rankings = lines.map(() => LEAST);
  const above: number[] = [];
  for (const [at, { kind, depth }] of lines.entries()) {
    above.length = Math.min(above.length, depth);
    above[depth] = at;
    const owner = above[depth - 1];
    const own = kind === "command" ? (owner ? (rankings[owner] ?? LEAST) : 0) : (ranks[kind] ?? LEAST);
    for (const each of above) rankings[each] = Math.min(rankings[each] ?? LEAST, own);
  }
  return rankings;
}

/** How far each is from the next one of these. The first line is about the run as a whole. */
function distancesTo(rankings: readonly number[]): readonly number[] {
  const distances = rankings.map((rank, at) => (rank < LEAST && at > 0 ? 0 : rankings.length));
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
    const [first, second] = gap;
    // One line takes no more room than the number of it.
    if (first && !second) shown.push(first);
    else if (first)
      shown.push({ kind: "heading", depth: Math.min(...gap.map(({ depth }) => depth)), text: gapText(gap) });
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
