// The statements of the sources, as far as they can be read without running them: what each select is ordered by, what it is
// narrowed to, and how many rows it asks for.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";

const backend = fileURLToPath(new URL("../../src/backend", import.meta.url));

/** What stands in a statement in place of what is only known when it runs. */
const UNKNOWN = "¤";

export type Select = {
  readonly file: string;
  /** Without what stands in parentheses. */
  readonly text: string;
  /** The table it reads from first; empty where that cannot be told. */
  readonly table: string;
  /** The columns of `order by`, without direction; undefined where there is none. */
  readonly order: readonly string[] | undefined;
  /** The columns that are compared with one value. */
  readonly fixed: readonly string[];
  readonly isLimited: boolean;
};

/** Every select with an order or a limit. */
export function selects(): readonly Select[] {
  return sourceFiles().flatMap((file) => {
    const texts = statementTexts(readFileSync(join(backend, file), "utf8"), file);
    return texts.flatMap(partsOf).flatMap((part) => {
      const select = readSelect(file, part);
      return select.order || select.isLimited ? [select] : [];
    });
  });
}

/** Without tests, and without migrations, which list nothing. */
function sourceFiles(): readonly string[] {
  const all = readdirSync(backend, { recursive: true, encoding: "utf8" }).map((file) => file.replaceAll("\\", "/"));
  return all.filter((file) => /(?<!\.test|\.contract)\.ts$/.test(file) && !/^(contract|sql\/tables)\//.test(file));
}

type Node = { readonly type: string; readonly [field: string]: unknown };

/** The texts of a file that are statements or parts of one; what is a constant of the file stands in place of its name. */
function statementTexts(source: string, file: string): readonly string[] {
  const { program } = parseSync(file, source);
  const constants = new Map<string, string>();
  const texts: string[] = [];
  visit(program as unknown as Node, (node) => {
    const { id, init } = node as { id?: Node; init?: Node };
    if (node.type === "VariableDeclarator" && id?.type === "Identifier" && init) {
      const text = textOf(init, constants);
      if (text !== undefined) constants.set(String(id.name), text);
    }
  });
  visit(program as unknown as Node, (node) => {
    const text = textOf(node, constants);
    if (text !== undefined && /\b(order by|limit)\b/.test(text)) texts.push(text);
  });
  // A constant that is a part of a statement is looked at there.
  return texts.filter((text) => /\b(select|with|from)\b/.test(text));
}

function visit(node: Node, look: (node: Node) => void): void {
  look(node);
  for (const value of Object.values(node)) {
    for (const each of Array.isArray(value) ? value : [value]) if (isNode(each)) visit(each, look);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

function textOf(node: Node, constants: ReadonlyMap<string, string>): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type !== "TemplateLiteral") return undefined;
  const { quasis, expressions } = node as unknown as { quasis: { value: { cooked: string } }[]; expressions: Node[] };
  return quasis
    .map(({ value }, index) => {
      const inserted = expressions[index];
      if (!inserted) return value.cooked;
      const known = inserted.type === "Identifier" ? constants.get(String(inserted.name)) : undefined;
      return value.cooked + (known ?? UNKNOWN);
    })
    .join("");
}

/** A statement and every part of it that stands in parentheses, each without those within it. */
function partsOf(statement: string): readonly string[] {
  const open: string[] = [""];
  const parts: string[] = [];
  for (const each of statement.replace(/\/\*.*?\*\//g, "")) {
    if (each === "(") open.push("");
    else if (each === ")" && open.length > 1) {
      parts.push(open.pop() ?? "");
      open.push(`${open.pop() ?? ""}()`);
    } else open.push(`${open.pop() ?? ""}${each}`);
  }
  return [...open, ...parts].filter((part) => /\b(order by|limit)\b/.test(part));
}

function readSelect(file: string, part: string): Select {
  const text = part.replace(/\s+/g, " ").trim();
  const [before = "", ordered] = text.split(/\border by\b/);
  return {
    file,
    text,
    table: /\bfrom (\w+)/.exec(before)?.[1] ?? "",
    order: ordered
      ?.split(/\blimit\b/)[0]
      ?.split(",")
      .map(columnOf),
    fixed: [...before.matchAll(/(?:\w+\.)?(\w+) = /g)].map(([, column = ""]) => column),
    isLimited: /\blimit\b/.test(text),
  };
}

function columnOf(term: string): string {
  return term
    .replace(/\b(asc|desc|nulls last|offset)\b/g, "")
    .trim()
    .replace(/^\w+\./, "")
    .replace(new RegExp(` ?${UNKNOWN}$`), "")
    .replace(new RegExp(`^${UNKNOWN}(?=\\w)`), "");
}
