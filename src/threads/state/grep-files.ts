// Searches text files line by line. A pattern is words as they stand; written as /…/ it is a regular expression. That one
// runs under a clock, because an expression that a model wrote may take for ever.
import { createContext, runInContext } from "node:vm";
import { errorMessage, holdfastError } from "../../contracts/error.ts";
import { isText } from "../../contracts/standard/mime-type.ts";
import { checkNumber, checkText } from "../check-arguments.ts";
import type { FileTree } from "./file-tree.ts";

type Hit = { readonly path: string; readonly line: number; readonly text: string };

type Options = {
  /** A normal path: a directory, or one file. */
  readonly path: string;
  readonly ignoreCase?: boolean;
  readonly limit?: number;
};

const USUAL_HITS = 100;
const MOST_HITS = 1_000;
/** A longer line is shown cut, and a regular expression sees only so much of it. */
const LONGEST_LINE = 2_000;
const LONGEST_PATTERN = 1_000;
/** For all files together: nothing else happens in the process meanwhile. */
const MOST_MS = 250;

/** Binary files are passed over. Throws `invalid_argument` for an expression that is none, or takes too long. */
export async function grepFiles(tree: FileTree, pattern: string, options: Options): Promise<readonly Hit[]> {
  checkText("pattern", pattern);
  const limit = options.limit ?? USUAL_HITS;
  checkNumber("limit", limit);
  if (pattern === "" || pattern.length > LONGEST_PATTERN) {
    throw holdfastError("invalid_argument", `pattern must be a text of 1 to ${LONGEST_PATTERN} characters.`);
  }
  const most = Math.min(limit, MOST_HITS);
  const find = readPattern(pattern, options.ignoreCase === true);
  const single = await tree.file(options.path);
  const hits: Hit[] = [];
  for (const { path, hash, mime_type, is_directory } of single ? [single] : await tree.below(options.path)) {
    if (hits.length >= most) break;
    if (is_directory || !isText(mime_type)) continue;
    const lines = linesOf(await tree.content(hash));
    for (const index of find(lines, most - hits.length)) {
      hits.push({ path, line: index + 1, text: (lines[index] ?? "").slice(0, LONGEST_LINE) });
    }
  }
  return hits;
}

/** What says it is text and holds a NUL is none. */
function linesOf(content: Uint8Array | undefined): readonly string[] {
  const text = content ? Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("utf8") : "";
  return text === "" || text.includes("\0") ? [] : text.split(/\r?\n/);
}

/** The numbers of the lines that are hit, from 0, and not more of them than wanted. */
type Find = (lines: readonly string[], most: number) => readonly number[];

function readPattern(pattern: string, ignoresCase: boolean): Find {
  const [, source, flags] = /^\/(.+)\/(i?)$/s.exec(pattern) ?? [];
  if (source !== undefined) return findExpression(source, ignoresCase || flags === "i");
  const wanted = ignoresCase ? pattern.toLowerCase() : pattern;
  return (lines, most) => {
    const found: number[] = [];
    for (let index = 0; index < lines.length && found.length < most; index++) {
      const line = lines[index] ?? "";
      if ((ignoresCase ? line.toLowerCase() : line).includes(wanted)) found.push(index);
    }
    return found;
  };
}

const SEARCH = `
  for (let index = 0; index < lines.length && found.length < most; index++) {
    if (expression.test(lines[index].slice(0, longest))) found.push(index);
  }
`;

function findExpression(source: string, ignoresCase: boolean): Find {
  let expression: RegExp;
  try {
    expression = new RegExp(source, ignoresCase ? "i" : "");
  } catch (thrown) {
    throw holdfastError("invalid_argument", `pattern is no regular expression: ${errorMessage(thrown)}`, thrown);
  }
  let left = MOST_MS;
  // Nothing of the pattern is run as code there: the context is only what can be interrupted.
  const context = createContext({ expression, longest: LONGEST_LINE, lines: [], most: 0, found: [] });
  return (lines, most) => {
    const found: number[] = [];
    Object.assign(context, { lines, most, found });
    const begun = performance.now();
    try {
      runInContext(SEARCH, context, { timeout: Math.max(1, Math.ceil(left)) });
    } catch (thrown) {
      throw holdfastError("invalid_argument", "pattern takes too long; write it without nested repetitions.", thrown);
    }
    left -= performance.now() - begun;
    return found;
  };
}
