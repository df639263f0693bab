// An endpoint: a route of the author's own below a thread.
import { createBrand } from "../../contracts/brand.ts";
import { isMap, type UnknownMap } from "../../contracts/json.ts";
import { readMethod, readPath } from "../../contracts/standard/endpoint-route.ts";
import type { ThreadState } from "../state/thread-state.ts";
import { invalidDefinition } from "./invalid-definition.ts";

/** Who calls; null for somebody who said nothing of themselves. */
export type EndpointAuth = {
  readonly caller: unknown;
  readonly threadAccess: unknown;
};

export type EndpointHandler = (
  request: Request,
  state: ThreadState,
  /** What the path captures by its `[name]` parts, and by `[*]` under `*`. */
  params: Readonly<Record<string, string>>,
  auth: EndpointAuth,
) => Response | Promise<Response>;

/** An endpoint, ready to be mounted. */
export type Endpoint = {
  /** Relative to the thread: `report/[id]`; `[name]` captures one segment, `[*]` the rest. */
  readonly path: string;
  /** In capital letters. */
  readonly method: string;
  readonly handler: EndpointHandler;
};

const endpoints = createBrand();

/** True for what `endpoint` has made. */
export function isEndpoint(value: unknown): value is Endpoint {
  return isMap(value) && endpoints.has(value);
}

/** Defines an endpoint; GET unless a method is given. Throws `invalid_definition` with the field that is wrong. */
export function endpoint(definition: {
  readonly path: string;
  readonly method?: string;
  readonly handler: EndpointHandler;
}): Endpoint {
  const given: UnknownMap = isMap(definition) ? definition : {};
  const name = typeof given.path === "string" ? given.path : undefined;
  const invalid = (detail: string) => invalidDefinition("endpoint", name, detail);
  const path = readPath(given.path);
  const method = readMethod(given.method ?? "GET");
  if (path === undefined) throw invalid("path must be segments such as report/[id], with [*] only at the end");
  if (method === undefined) throw invalid("method must be the name of an HTTP method");
  if (typeof given.handler !== "function") throw invalid("handler must be a function");
  const stray = Object.keys(given).find((field) => !["path", "method", "handler"].includes(field));
  if (stray !== undefined) throw invalid(`${stray} is no field of an endpoint`);
  const made: Endpoint = { path, method, handler: definition.handler };
  endpoints.mark(made);
  return Object.freeze(made);
}
