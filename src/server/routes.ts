// Every operation over HTTP: under its name at /abilities, and where it has a route, there too.
import type { Context } from "hono";
import type { Operation, Route } from "../abilities/operation.ts";
import type { UnknownMap } from "../contracts/json.ts";
import { isOperationError, operationError } from "../contracts/operation-error.ts";
import type { Holdfast } from "../holdfast.ts";
import { readJson } from "./body.ts";
import type { Mount, ServerEnv, ServerHost } from "./door.ts";
import { problem } from "./problem.ts";

const abilitiesPath = "/abilities";

export const routesDoor: Mount = (app, host) => {
  const operations = projectedOperations(host.holdfast);
  const byName = new Map(operations.map((operation) => [operation.name, operation]));

  app.get(abilitiesPath, (context) => context.json({ abilities: operations.map(shownOperation) }));
  app.get(`${abilitiesPath}/*`, (context) => {
    const operation = byName.get(nameIn(context));
    return operation ? context.json(shownOperation(operation)) : problem(context, unknown(nameIn(context)));
  });
  app.post(`${abilitiesPath}/*`, async (context) => {
    const operation = byName.get(nameIn(context));
    if (!operation) return problem(context, unknown(nameIn(context)));
    const read = await readJson(context);
    if ("refusal" in read) return problem(context, read.refusal);
    return await call(context, host, operation, read.body);
  });

  for (const operation of operations) {
    const { route } = operation;
    if (!route) continue;
    app.on(route.method.toUpperCase(), honoPath(route.path), async (context) => {
      const read = hasBody(route) ? await readJson(context) : { body: {} };
      if ("refusal" in read) return problem(context, read.refusal);
      const input = { ...queryOf(context, operation), ...read.body, ...context.req.param() };
      return await call(context, host, operation, input, route);
    });
  }
};

/** Calls an operation for whoever asks and answers with what came of it. */
async function call(
  context: Context<ServerEnv>,
  { holdfast }: ServerHost,
  operation: Operation,
  input: UnknownMap,
  { status = 200, badRequests = [] }: Pick<Route, "badRequests"> & { readonly status?: Route["status"] | 200 } = {},
): Promise<Response> {
  const key = context.req.header("idempotency-key");
  if (key !== undefined && !IDEMPOTENCY_KEY.test(key)) {
    return problem(context, operationError("invalid_input", "Idempotency-Key must be 1 to 255 printable characters."));
  }
  const answer = await holdfast.abilities.call(operation.name, input, {
    principal: context.get("principal"),
    door: "http",
    ...(key !== undefined && { key }),
    // Reading is over soon; what waits for a run stops waiting when nobody listens, and the run goes on.
    ...((operation.effect !== "read" || operation.waits === true) && { signal: context.req.raw.signal }),
  });
  if (isOperationError(answer))
    return problem(context, answer, {}, badRequests.includes(answer.code) ? 400 : undefined);
  return context.json((answer ?? null) as object, typeof status === "function" ? status(answer) : status);
}

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/** All that answer with JSON: what is followed, and files as they are, have doors of their own. */
export function projectedOperations({ abilities }: Pick<Holdfast, "abilities">): readonly Operation[] {
  return abilities.list("http").filter(({ output }) => output.type !== "custom");
}

/** How an operation is shown to those who may call it. */
function shownOperation(operation: Operation) {
  const { name, title, description, effect, capability, annotations, inputSchema, outputSchema, route } = operation;
  return {
    ...{ name, title, description, effect, capability, annotations },
    input_schema: inputSchema,
    output_schema: outputSchema,
    ...(route && { route: { method: route.method, path: route.path } }),
  };
}

/** `/threads/{thread_id}` as the router writes it. A path of a file at the end takes in all that follows. */
function honoPath(path: string): string {
  return path.replace(/\{path\}$/, ":path{.+}").replaceAll(/\{(\w+)\}/g, ":$1");
}

function hasBody({ method }: Route): boolean {
  return method !== "get";
}

/** A field that is a list takes all values of its name, every other one the first. */
function queryOf(context: Context<ServerEnv>, { inputSchema }: Operation): UnknownMap {
  if (!context.req.url.includes("?")) return {};
  const queries = context.req.queries();
  const { properties } = (inputSchema ?? {}) as { properties?: Readonly<Record<string, { type?: unknown }>> };
  return Object.fromEntries(
    Object.entries(queries).map(([name, values]) => [
      name,
      properties && Object.hasOwn(properties, name) && properties[name]?.type === "array" ? values : values[0],
    ]),
  );
}

function nameIn(context: Context<ServerEnv>): string {
  return context.req.path.slice(abilitiesPath.length + 1);
}

function unknown(name: string) {
  return operationError("ability_not_found", `There is no ability "${name}".`);
}
