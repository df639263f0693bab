// The figures as text: for the console, and as the page that a full run leaves behind.
import { availableParallelism, cpus } from "node:os";
import { figure, table } from "./markdown.ts";
import type { Findings, Section, Target } from "./section.ts";

type Measured = readonly { readonly section: Section; readonly findings: Findings }[];

/** Targets and tables. */
export function summary(measured: Measured): string {
  return [
    ...measured.flatMap(({ section, findings }) => [`## ${section.title}`, ...findings.tables]),
    "## Targets",
    targets(measured),
  ].join("\n\n");
}

/** The page that `npm run bench` leaves behind. */
export function page(measured: Measured, minutes: number): string {
  return `# What a turn costs

Written by \`npm run bench\`, which took ${minutes.toFixed(0)} minutes; \`npm run bench -- --quick\` prints a rougher version in under two
and leaves this page alone. \`node bench/main.ts --only sqlite,postgres\` measures some sections anew; their names are
${measured.map(({ section }) => section.name).join(", ")}. For LangGraph.js see [peers](peers/README.md).

${machine()}; ${versions(measured)}.

## Targets

${targets(measured)}

${measured.map(block).join("\n\n")}

${READING}

A figure is the median over the rounds. Whoever is compared takes turns, each in a process of its own and never two at a
time, so that a busy moment of the machine slows all of them alike. A ratio is the median of the ratios of each round, whose
samples were taken close together: it carries over to other machines, the microseconds do not. A target that was missed
stays on the list.
`;
}

const READING = "## How to read it";

function block({ section, findings }: Measured[number]): string {
  return [`## ${section.title}`, ...findings.tables, findings.reading].join("\n\n");
}

/** The page with what was measured alone in its place; all the rest of it stays from the run before. */
export function updated(before: string, measured: Measured): string {
  const [opening = "", ...blocks] = before.split(/\n\n(?=## )/);
  const own = new Map(measured.map((each) => [`## ${each.section.title}`, block(each)]));
  const kept = blocks.map((text) => {
    const title = text.split("\n", 1)[0] ?? "";
    const known = own.get(title);
    own.delete(title);
    return title === "## Targets" ? withTargets(text, measured) : (known ?? text);
  });
  const end = kept.findIndex((text) => text.startsWith(READING));
  return [opening, ...kept.slice(0, end), ...own.values(), ...kept.slice(end)].join("\n\n");
}

function withTargets(text: string, measured: Measured): string {
  const [, , ...rows] = targets(measured).split("\n");
  const nameOf = (row: string) => row.split(" | ", 1)[0] ?? "";
  const fresh = new Map(rows.map((row) => [nameOf(row), row]));
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => {
      const row = fresh.get(nameOf(line));
      fresh.delete(nameOf(line));
      return row ?? line;
    });
  return [...lines, ...fresh.values()].join("\n");
}

function targets(measured: Measured): string {
  return table(
    ["Target", "Limit", "Measured", ""],
    measured.flatMap(({ findings }) => findings.targets.map(judged)),
  );
}

function judged({ says, limit, measured, unit = "×" }: Target): string[] {
  const isMost = "atMost" in limit;
  const bound = isMost ? limit.atMost : limit.atLeast;
  const isMet = measured !== undefined && (isMost ? measured <= bound : measured >= bound);
  const verdict = measured === undefined ? "not measured" : isMet ? "met" : "**missed**";
  return [
    says,
    `${isMost ? "≤" : "≥"} ${figure(bound)} ${unit}`.trim(),
    measured === undefined ? "–" : `${figure(measured)} ${unit}`.trim(),
    verdict,
  ];
}

function machine(): string {
  const { platform, arch } = process;
  return `Node ${process.version}, ${platform} ${arch}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? "unknown"})`;
}

function versions(measured: Measured): string {
  const all = new Map(measured.flatMap(({ findings }) => Object.entries(findings.versions ?? {})));
  return [...all].map(([name, version]) => `${name} ${version}`).join(", ");
}
