// Which tool a text asks for, if any: the one whose name and description share the most words with it.
import type { ToolDeclaration, ToolMap } from "../../contracts/tools/declaration.ts";
import { type Filled, fillParameters, parametersOf } from "./fill-parameters.ts";
import { stem, stemsOf } from "./stem.ts";
import { meanTheSame, silentStems } from "./synonyms.ts";
import { readText, type Token } from "./tokens.ts";

export type Picked = Filled & { readonly tool: ToolDeclaration };

/**
 * The tool with what the text fills its parameters with, or undefined when no tool is asked for. That a text only speaks
 * of what a tool is about is not enough: "Where is order 7?" asks for no refund of an order.
 */
export function pickTool(text: string, tools: ToolMap): Picked | undefined {
  const reading = readText(text);
  const asked = [...wantedStems(reading.tokens)];
  const all = Object.values(tools).map((tool) => ({ tool, known: knownWords(tool) }));
  let best: { readonly picked: Picked; readonly score: number } | undefined;
  for (const { tool, known } of all) {
    const weights = asked.map((word) => weightOf(word, known));
    if (sum(weights) < ENOUGH) continue;
    // What most tools know tells little of which one is meant.
    const told = weights.map((weight, index) => weight / shared(asked[index] ?? "", all));
    const filled = fillParameters(tool, reading);
    // Of two tools that are called alike, the one that the text has more to say to is meant.
    const fit = Object.keys(filled.parameters).length - filled.missing.length;
    const score = sum(told) + fit / 2;
    if (!best || score > best.score) best = { picked: { tool, ...filled }, score };
  }
  return best?.picked;
}

type KnownWords = ReadonlyMap<string, number>;

const ENOUGH = 2;

/** The words that speak for a tool, with how much they do. */
function knownWords(tool: ToolDeclaration): KnownWords {
  const slash = tool.name.indexOf("/");
  const namespace = stemsOf(tool.name.slice(0, Math.max(slash, 0)));
  // What a tool works on is in its parameters; the other words say what it does.
  const objects = new Set(Object.keys(parametersOf(tool).properties).flatMap(stemsOf));
  const own = stemsOf(tool.name.slice(slash + 1)).filter(isTelling);
  const acts = own.filter((each) => !objects.has(each));
  // In names such as weather/now and orders/get it is the namespace that says what the tool is for.
  const names = [acts, own, namespace].find((words) => words.length > 0) ?? [];
  const described = stemsOf(tool.description).filter((each) => isTelling(each) && !objects.has(each));
  // The last of several entries counts.
  return new Map([
    ...[...objects].map((word) => [word, 0] as const),
    ...namespace.map((word) => [word, 1] as const),
    ...described.map((word) => [word, 2] as const),
    ...names.map((word) => [word, 3] as const),
  ]);
}

/** A word that is only meant, in another word, counts for less. */
function weightOf(asked: string, known: KnownWords): number {
  const meant = [...known].filter(([word]) => meanTheSame(word, asked)).map(([, weight]) => weight * 0.7);
  return known.get(asked) ?? Math.max(0, ...meant);
}

function shared(word: string, all: readonly { readonly known: KnownWords }[]): number {
  return Math.max(1, all.filter(({ known }) => known.has(word)).length);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Words with which anything can be asked for. */
const plainStems: ReadonlySet<string> = new Set(
  ["now", "get", "show", "list", "give", "tell", "see", "view", "run", "use", "current", "all", "every"].map(stem),
);

function isTelling(word: string): boolean {
  return !plainStems.has(word) && !silentStems.has(word);
}

/** The words of a text that ask for something: what follows a "do not" asks for its opposite. */
function wantedStems(tokens: readonly Token[]): ReadonlySet<string> {
  const wanted = new Set<string>();
  let unwanted = 0;
  for (const token of tokens) {
    if (token.kind === "mark") unwanted = 0;
    if (token.kind !== "word") continue;
    if (isRefusal(token)) unwanted = 4;
    else if (unwanted > 0) unwanted--;
    else if (isTelling(token.stem)) wanted.add(token.stem);
  }
  // "Give me my money back" says in two words what others say in one.
  if (wanted.has(stem("money")) && wanted.has("back")) wanted.add(stem("money-back"));
  return wanted;
}

function isRefusal({ text }: Token): boolean {
  return /^(?:not|never|without|don['’]t|doesn['’]t|dont|cannot|can['’]t|won['’]t)$/i.test(text);
}
