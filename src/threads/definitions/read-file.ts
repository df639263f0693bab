// What a file's default export defines, by the folder that the file is in and the name that it has.
import { isMap } from "../../contracts/json.ts";
import { routeOfFile, shapeOf } from "../../contracts/standard/endpoint-route.ts";
import { declaredName } from "../../contracts/standard/names.ts";
import { agent, isAgent } from "../agent.ts";
import { isTool, tool } from "../tool.ts";
import { type Definitions, givenName, type Owner } from "./catalogue.ts";
import { prompt } from "./define-prompt.ts";
import { effect, isEffect } from "./effect.ts";
import { type Endpoint, endpoint, isEndpoint } from "./endpoint.ts";
import { hook, isHook } from "./hook.ts";
import { isModel, model } from "./model.ts";
import { isPrompt } from "./prompt.ts";

/** What the files of a folder define. */
export type LoadedDefinitions = Definitions & { readonly endpoints: readonly Endpoint[] };

export type List = keyof LoadedDefinitions;

export type Made = LoadedDefinitions[List][number];

/** `name`: of the file, without its ending; for endpoints the whole path below their folder. */
type Read = (exported: unknown, name: string) => Made;

/** A definition is taken as it is when the define function has made it; otherwise it is what one would pass to that. */
function reader<Definition extends Made>(
  isMade: (value: unknown) => value is Definition,
  define: (given: never) => Made,
): Read {
  return (exported) => {
    if (isMade(exported)) return exported;
    const other = kindOf(exported);
    if (other !== undefined) throw new Error(`It exports what ${other}() made, which belongs into another folder.`);
    if (!isMap(exported)) throw new Error("Its default export is no definition.");
    return define(exported as never);
  };
}

/** The file's name is the definition's. */
function namedReader(read: Read, nameOf: (made: Made) => string): Read {
  return (exported, file) => {
    const isBare = isMap(exported) && kindOf(exported) === undefined && exported.name === undefined;
    const made = read(isBare ? { ...exported, name: file } : exported, file);
    const name = nameOf(made);
    if (name === file || name.endsWith(`/${file}`)) return made;
    throw new Error(`Its name is ${file}, as that of the file, and not ${name}.`);
  };
}

const readEndpoint: Read = (exported, file) => {
  const route = routeOfFile(file);
  if (!route) throw new Error("Its name is no path: write segments, [name] for one that varies and [*] for the rest.");
  if (typeof exported === "function") return endpoint({ ...route, handler: exported as Endpoint["handler"] });
  const isBare = isMap(exported) && kindOf(exported) === undefined;
  const made = reader(isEndpoint, endpoint)(isBare ? { ...route, ...exported } : exported, file) as Endpoint;
  if (shapeOf(made) === shapeOf(route)) return made;
  throw new Error(`Its route is ${route.method} ${route.path}, as the file says, and not ${made.method} ${made.path}.`);
};

/** The folders there are. A file of an endpoint may be in folders below, which are part of its path. */
export const folders: readonly {
  readonly folder: string;
  readonly list: List;
  readonly isDeep: boolean;
  readonly read: Read;
}[] = [
  { folder: "models", list: "models", isDeep: false, read: reader(isModel, model) },
  { folder: "tools", list: "tools", isDeep: false, read: namedReader(reader(isTool, tool), nameOf) },
  { folder: "hooks", list: "hooks", isDeep: false, read: reader(isHook, hook) },
  { folder: "effects", list: "effects", isDeep: false, read: namedReader(reader(isEffect, effect), nameOf) },
  { folder: "prompts", list: "prompts", isDeep: false, read: reader(isPrompt, prompt) },
  { folder: "agents", list: "agents", isDeep: false, read: reader(isAgent, agent) },
  { folder: "api", list: "endpoints", isDeep: true, read: readEndpoint },
];

/** What the definition is called where something is said of it. */
export function ownerOf(made: Made): Owner {
  return { kind: kindOf(made) ?? "endpoint", name: nameOf(made) };
}

/** The same for two definitions that cannot both be there. */
export function identityOf(made: Made): string {
  if (isEndpoint(made)) return shapeOf(made);
  const { kind, name } = ownerOf(made);
  return ["agent", "prompt", "tool"].includes(kind) ? declaredName(name) : `${kind} ${name}`;
}

function nameOf(made: Made): string {
  if (isEndpoint(made)) return `${made.method} ${made.path}`;
  if (isAgent(made)) return made.slug;
  if (isHook(made)) return made.id;
  return isTool(made) ? givenName(made) : made.name;
}

function kindOf(value: unknown): Owner["kind"] | undefined {
  if (isAgent(value)) return "agent";
  if (isPrompt(value)) return "prompt";
  if (isModel(value)) return "model";
  if (isTool(value)) return "tool";
  if (isHook(value)) return "hook";
  if (isEffect(value)) return "effect";
  return isEndpoint(value) ? "endpoint" : undefined;
}
