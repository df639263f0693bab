// The regular expressions of the sources: those written down, from the syntax tree, and those put together at run time.
import { globSync, readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { parseSync, Visitor } from "oxc-parser";
import { checkSync } from "recheck";
import { analyse } from "scslre";

export type Expression = { readonly file: string; readonly source: string; readonly flags: string };

/** Where a file of the sources calls `RegExp`, so that its expressions cannot be read off the text. */
export type Construction = { readonly file: string };

export function writtenIn(file: string, code: string): { written: Expression[]; constructed: Construction[] } {
  const written: Expression[] = [];
  const constructed: Construction[] = [];
  const callee = (node: { readonly type: string }) => {
    if ("name" in node && node.name === "RegExp") constructed.push({ file });
  };
  const visitor = new Visitor({
    Literal(node) {
      if ("regex" in node && node.regex) written.push({ file, source: node.regex.pattern, flags: node.regex.flags });
    },
    NewExpression: (node) => callee(node.callee),
    CallExpression: (node) => callee(node.callee),
  });
  visitor.visit(parseSync(file, code).program);
  return { written, constructed };
}

function sources(): readonly string[] {
  return globSync("src/**/*.ts").filter((file) => !/\.(test|contract)\.ts$/.test(file));
}

export function allWritten(): { written: Expression[]; constructed: Construction[] } {
  const found = sources().map((file) => writtenIn(file, readFileSync(file, "utf8")));
  return {
    written: found.flatMap(({ written }) => written),
    constructed: found.flatMap(({ constructed }) => constructed),
  };
}

/**
 * What `RegExp` was called with while a fresh thread loaded the file and, for a function that calls it, ran `use` with
 * the loaded module as `loaded`.
 */
export async function constructedBy(file: string, use = ""): Promise<readonly Expression[]> {
  const code = `
    const { parentPort } = require("node:worker_threads");
    const made = [];
    const BuiltIn = RegExp;
    globalThis.RegExp = new Proxy(BuiltIn, {
      construct(target, [source, flags = ""]) {
        made.push({ source: String(source), flags });
        return new target(source, flags);
      },
    });
    import(${JSON.stringify(new URL(`../../${file}`, import.meta.url).href)}).then((loaded) => {
      made.splice(0, ${use ? "made.length" : "0"});
      ${use};
      parentPort.postMessage(made);
    });`;
  const worker = new Worker(code, { eval: true });
  const made = await new Promise<readonly { source: string; flags: string }[]>((resolve, reject) => {
    worker.once("message", resolve).once("error", reject);
  });
  await worker.terminate();
  return made.map((expression) => ({ file, ...expression }));
}

/** In which ways an expression may go over a text more than once. By structure alone: nothing is matched or timed. */
export function backtracking({ source, flags }: Pick<Expression, "source" | "flags">): readonly string[] {
  const reports = analyse({ source, flags }).reports.map(({ type, exponential }) =>
    exponential ? `${type}, exponential` : type,
  );
  // The first looks at repetitions of one character only; the second knows every text, but no look-around.
  return reports.length > 0 || !/[*+]|,\}/.test(source) ? reports : ambiguity(source, flags);
}

function ambiguity(source: string, flags: string): readonly string[] {
  const checked = checkSync(withShortBounds(source), flags, { checker: "automaton", timeout: null });
  if (checked.status === "vulnerable") return [checked.complexity.type];
  if (checked.status === "unknown" && checked.error.kind !== "unsupported") return [checked.error.kind];
  return [];
}

/** Counted repetitions make large automata and no difference to whether there is an ambiguity without bounds. */
function withShortBounds(source: string): string {
  return source.replace(
    /\{(\d+)(,?)(\d*)\}/g,
    (_bounds, least: string, comma: string, most: string) =>
      `{${Math.min(Number(least), 2)}${comma}${most && Math.min(Number(most), 3)}}`,
  );
}
