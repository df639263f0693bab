// An operation asked for over HTTP, under its name or at its route, with an input that is put where it belongs.
import type { Operation } from "../../src/abilities/operation.ts";
import type { UnknownMap } from "../../src/contracts/json.ts";
import type { Answer, Served } from "../served-runtime.ts";

export type Way = "name" | "route";

/** The ways in which an operation can be asked for. */
export function waysTo({ route }: Operation): readonly Way[] {
  return route ? ["name", "route"] : ["name"];
}

export async function askOperation(
  served: Pick<Served, "ask">,
  token: string,
  operation: Operation,
  input: UnknownMap,
  way: Way = "name",
): Promise<Answer> {
  const { name, route } = operation;
  if (way === "name" || !route) return await served.ask(token, `/abilities/${name}`, { json: input });
  const rest = { ...input };
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = String(rest[field]);
    delete rest[field];
    return field === "path" ? value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(value);
  });
  const method = route.method.toUpperCase();
  if (method === "GET" || method === "DELETE") return await served.ask(token, `${path}?${queryOf(rest)}`, { method });
  return await served.ask(token, path, { method, json: rest });
}

/** What is no text is told in a query as far as queries tell it. */
function queryOf(input: UnknownMap): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) {
    for (const each of [value].flat()) query.append(name, typeof each === "object" ? JSON.stringify(each) : `${each}`);
  }
  return query;
}

/** The fields that an operation takes, and those that it cannot do without. */
export function fieldsOf({ inputSchema }: Operation): {
  readonly all: readonly string[];
  readonly required: readonly string[];
} {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: UnknownMap;
    required?: readonly string[];
  };
  return { all: Object.keys(properties), required };
}
