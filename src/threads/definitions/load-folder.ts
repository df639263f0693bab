// Definitions from files: a folder with `agents`, `prompts`, `models`, `tools`, `hooks`, `effects` and `api` in it, and one
// definition in each of their files, as its default export.
//
// What a file exports may have been made by the define function of its folder, or be what one would pass to it. Tools and
// effects are called by their file's name: in files their `name` can be left out, `export default { description, execute }`,
// and has to be the same when it is there. An endpoint's path and method are its file's too: there the handler alone will
// do, `export default async (request, state, params, auth) => new Response(…)`. A broken file is a problem of its own, and
// so is what refers to it; everything else is loaded.
import { readdirSync, statSync } from "node:fs";
import { extname, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { errorMessage, holdfastError } from "../../contracts/error.ts";
import { isMap } from "../../contracts/json.ts";
import type { Definitions } from "./catalogue.ts";
import { folders, identityOf, type List, type LoadedDefinitions, type Made, ownerOf } from "./read-file.ts";
import { examine } from "./registry.ts";

export type { LoadedDefinitions };

/** A file that was not taken, by its path in the folder, and why. */
export type FileProblem = { readonly file: string; readonly message: string };

type Loaded = { readonly list: List; readonly made: Made; readonly file: string };

/**
 * Loads the definitions in a folder. `beside`: definitions in code that the files may refer to; they are not part of what is
 * returned. Throws `invalid_argument` when there is no such folder; whatever is wrong with a file is told as a problem.
 */
export async function loadAgents(
  folder: string,
  beside: Partial<Definitions> = {},
): Promise<{ readonly definitions: LoadedDefinitions; readonly problems: readonly FileProblem[] }> {
  const root = resolve(folder);
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    throw holdfastError("invalid_argument", `folder ${folder} is not there`);
  }
  const problems: FileProblem[] = misplacedIn(root);
  const loaded: Loaded[] = [];
  const taken = new Map<string, string>();
  for (const made of Object.values(beside).flat()) taken.set(identityOf(made), "the program itself");
  for (const { folder: name, list, isDeep, read } of folders) {
    for (const file of scriptsIn(join(root, name), isDeep)) {
      const path = relative(root, file).split(sep).join("/");
      try {
        const made = read(await defaultExport(file), nameOfFile(path.slice(name.length + 1), isDeep));
        const other = taken.get(identityOf(made));
        if (other !== undefined) throw new Error(`${ownerOf(made).name} is defined in ${other} already.`);
        taken.set(identityOf(made), path);
        loaded.push({ list, made, file: path });
      } catch (thrown) {
        problems.push({ file: path, message: errorMessage(thrown) });
      }
    }
  }
  const { kept, unresolved } = resolvable(loaded, beside);
  return { definitions: definitionsOf(kept), problems: [...problems, ...unresolved] };
}

/** Leaves out what refers to something that is not there, and then what refers to that, until everything left is whole. */
function resolvable(loaded: readonly Loaded[], beside: Partial<Definitions>) {
  const unresolved: FileProblem[] = [];
  let kept = loaded;
  for (;;) {
    const { endpoints: _routes, ...definitions } = definitionsOf(kept);
    const { mistakes } = examine(together(definitions, beside));
    const wrong = kept.flatMap((each) => {
      const { kind, name } = ownerOf(each.made);
      const mistake = mistakes.find((found) => found.kind === kind && found.name === name);
      return mistake ? [{ each, message: mistake.detail }] : [];
    });
    // What is wrong in code is for whoever hands that in.
    if (wrong.length === 0) return { kept, unresolved };
    unresolved.push(...wrong.map(({ each, message }) => ({ file: each.file, message })));
    kept = kept.filter((each) => !wrong.some((found) => found.each === each));
  }
}

function together(definitions: Definitions, beside: Partial<Definitions>): Definitions {
  const { agents = [], prompts = [], models = [], tools = [], hooks = [], effects = [] } = beside;
  return {
    agents: [...definitions.agents, ...agents],
    prompts: [...definitions.prompts, ...prompts],
    models: [...definitions.models, ...models],
    tools: [...definitions.tools, ...tools],
    hooks: [...definitions.hooks, ...hooks],
    effects: [...definitions.effects, ...effects],
  };
}

function definitionsOf(loaded: readonly Loaded[]): LoadedDefinitions {
  // The folder says which list a definition is in, and has made sure that it is of that kind.
  const listed = <Name extends List>(list: Name) =>
    loaded.flatMap((each) => (each.list === list ? [each.made] : [])) as unknown as LoadedDefinitions[Name];
  return {
    agents: listed("agents"),
    prompts: listed("prompts"),
    models: listed("models"),
    tools: listed("tools"),
    hooks: listed("hooks"),
    effects: listed("effects"),
    endpoints: listed("endpoints"),
  };
}

async function defaultExport(file: string): Promise<unknown> {
  const exported: unknown = await import(pathToFileURL(file).href);
  const found = isMap(exported) ? exported.default : undefined;
  if (found === undefined) throw new Error("It has no default export.");
  return found;
}

const ENDINGS: ReadonlySet<string> = new Set([".ts", ".js", ".mjs"]);

function isScript(name: string): boolean {
  return ENDINGS.has(extname(name)) && !/\.(?:d|test|spec)\.\w+$/.test(name) && !name.startsWith(".");
}

function nameOfFile(path: string, isDeep: boolean): string {
  return isDeep ? path : path.slice(0, -extname(path).length);
}

/** In a fixed order, so that it is always the same one of two that comes too late. */
function scriptsIn(folder: string, isDeep: boolean): readonly string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  const found = readdirSync(folder, { withFileTypes: true }).sort((left, right) => (left.name < right.name ? -1 : 1));
  return found.flatMap((each) => {
    const path = join(folder, each.name);
    if (each.isDirectory()) return isDeep ? scriptsIn(path, isDeep) : [];
    return isScript(each.name) ? [path] : [];
  });
}

/** Files where nobody looks for definitions, though their author may think so. */
function misplacedIn(root: string): FileProblem[] {
  const known = folders.map(({ folder }) => `${folder}/`).join(", ");
  return readdirSync(root, { withFileTypes: true })
    .filter((each) => each.isFile() && isScript(each.name))
    .map(({ name }) => ({ file: name, message: `It is not loaded: definitions stand in ${known}.` }));
}
