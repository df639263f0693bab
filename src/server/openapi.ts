// The description of the HTTP interface for machines (OpenAPI 3.1), made from the operations: what stands in it is what the
// server does.
import type { Operation, Route } from "../abilities/operation.ts";
import { isMap, type UnknownMap } from "../contracts/json.ts";
import type { ApiOperation, ApiPaths } from "./api-operation.ts";
import { protocolPaths } from "./openapi-protocols.ts";

type Schema = UnknownMap;

export type OpenApi = {
  readonly openapi: string;
  readonly info: UnknownMap;
  readonly security: readonly UnknownMap[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: UnknownMap & { readonly schemas: Readonly<Record<string, Schema>> };
};

export function createOpenApi(operations: readonly Operation[], version: string): OpenApi {
  const schemas: Record<string, Schema> = { Problem: problemSchema };
  const hasGateway = operations.some(({ route }) => route?.path === "/events");
  const paths: ApiPaths = { ...fixedPaths(), ...protocolPaths({ hasGateway }) };
  for (const operation of operations) {
    const input = hoisted(operation.inputSchema as Schema, `${operation.name}.input`, schemas);
    const output = hoisted(operation.outputSchema as Schema, `${operation.name}.output`, schemas);
    schemas[schemaName(`${operation.name}.input`)] = input;
    schemas[schemaName(`${operation.name}.output`)] = output;
    paths[`/abilities/${operation.name}`] = { post: byName(operation) };
    const { route } = operation;
    if (route) paths[route.path] = { ...paths[route.path], [route.method]: byRoute(operation, route, input) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Holdfast", version, description: "The operations of a Holdfast server." },
    security: [{ token: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: { token: { type: "http", scheme: "bearer", description: "A token of an agent." } },
      responses: {
        Problem: { description: "The refusal.", content: { "application/problem+json": { schema: ref("Problem") } } },
      },
    },
  };
}

function byName(operation: Operation): ApiOperation {
  return {
    ...about(operation, operation.name),
    parameters: keyParameter(operation),
    requestBody: { required: true, content: json(ref(schemaName(`${operation.name}.input`))) },
    responses: responses(operation, 200),
  };
}

/** The id of an operation at its route, beside the one that it has by its name. */
export function routeId(id: string): string {
  return `${id}-by-route`;
}

/** The fields of the input that the path does not hold stand in the query or in the body. */
function byRoute(operation: Operation, { method, path, status }: Route, input: Schema): ApiOperation {
  const properties = isMap(input.properties) ? input.properties : {};
  const required = Array.isArray(input.required) ? input.required : [];
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const rest = Object.keys(properties).filter((name) => !inPath.includes(name));
  const parameter = (name: string, place: string) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    schema: properties[name] ?? { type: "string" },
  });
  const isQuery = method === "get" || method === "delete";
  const body = {
    type: "object",
    properties: Object.fromEntries(rest.map((name) => [name, properties[name]])),
    required: required.filter((name) => rest.includes(name)),
  };
  return {
    ...about(operation, routeId(operation.name)),
    parameters: [
      ...inPath.map((name) => parameter(name, "path")),
      ...(isQuery ? rest.map((name) => parameter(name, "query")) : []),
      ...keyParameter(operation),
    ],
    ...(!isQuery && rest.length > 0 && { requestBody: { required: body.required.length > 0, content: json(body) } }),
    responses: responses(operation, typeof status === "function" ? 202 : (status ?? 200)),
  };
}

function about({ title, description, capability, orCapability, category, annotations }: Operation, id: string) {
  const other = orCapability === undefined ? "" : ` or \`${orCapability}\``;
  return {
    operationId: id.replaceAll("/", "."),
    summary: title,
    description: `${description} It takes the capability \`${capability}\`${other}.`,
    tags: [category ?? "holdfast"],
    "x-annotations": annotations,
  };
}

function keyParameter({ effect }: Operation): readonly UnknownMap[] {
  if (effect === "read") return [];
  const description = "Makes a repeat of the same request the same request.";
  return [{ name: "Idempotency-Key", in: "header", required: false, description, schema: { type: "string" } }];
}

function responses({ name }: Operation, status: number) {
  return {
    [status]: { description: "What came of it.", content: json(ref(schemaName(`${name}.output`))) },
    default: { $ref: "#/components/responses/Problem" },
  };
}

/** What is no operation. */
function fixedPaths(): ApiPaths {
  const open = { security: [], tags: ["server"] };
  const plain = (description: string) => ({ 200: { description } });
  const thread = { name: "thread_id", in: "path", required: true, schema: { type: "string" } };
  const query = (name: string, description: string) => ({ name, in: "query", description, schema: { type: "string" } });
  const bytes = { content: { "*/*": { schema: {} } } };
  const path = { name: "path", in: "path", required: true, schema: { type: "string" } };
  const list = { 200: { description: "Each with its schemas.", content: json({ type: "object" }) } };
  return {
    "/abilities": {
      get: {
        operationId: "list-abilities",
        summary: "List the operations that there are",
        tags: ["server"],
        responses: { ...list, default: { $ref: "#/components/responses/Problem" } },
      },
    },
    "/health": { get: { operationId: "health", summary: "The process lives", ...open, responses: plain("It does.") } },
    "/ready": {
      get: { operationId: "ready", summary: "The server takes requests", ...open, responses: plain("It does.") },
    },
    "/auth/stream-ticket": {
      post: {
        operationId: "stream-ticket",
        summary: "Get a ticket for one stream, good once and for half a minute",
        tags: ["server"],
        requestBody: {
          required: true,
          content: json({ type: "object", properties: { pathname: { type: "string" } }, required: ["pathname"] }),
        },
        responses: {
          ...plain("The ticket, for ?ticket= at that path."),
          default: { $ref: "#/components/responses/Problem" },
        },
      },
    },
    "/threads/{thread_id}/stream": {
      get: {
        operationId: "follow-thread",
        summary: "Follow a thread as server-sent events",
        description: "Committed events carry ids; come back with Last-Event-ID. What a model is saying carries none.",
        tags: ["holdfast"],
        parameters: [
          thread,
          query("after", "The id of the last event that was seen, or now."),
          query("run", "In its place: the run to begin with."),
          query("live", "Where the reader was in what the model is saying: step.attempt.offset."),
          query("until", "rest: ends with an event `end` where a run ends or waits for somebody."),
          query("ticket", "In place of a token."),
        ],
        responses: {
          200: { description: "The events.", content: { "text/event-stream": { schema: { type: "string" } } } },
          default: { $ref: "#/components/responses/Problem" },
        },
      },
    },
    "/workflow-runs/{run_id}/stream": {
      get: {
        operationId: "follow-workflow-run",
        summary: "Follow a run of a workflow as server-sent events",
        description: "Each event carries an id; come back with Last-Event-ID. The stream ends with the run.",
        tags: ["holdfast"],
        parameters: [
          { name: "run_id", in: "path", required: true, schema: { type: "string" } },
          query("after", "The id of the last event that was seen."),
          query("ticket", "In place of a token."),
        ],
        responses: {
          200: { description: "The events.", content: { "text/event-stream": { schema: { type: "string" } } } },
          default: { $ref: "#/components/responses/Problem" },
        },
      },
    },
    "/threads/{thread_id}/content/{path}": {
      get: {
        operationId: "get-file",
        summary: "Get a file of a thread as it is",
        tags: ["holdfast"],
        parameters: [thread, path],
        responses: { 200: { description: "The file.", ...bytes }, default: { $ref: "#/components/responses/Problem" } },
      },
      put: {
        operationId: "put-file",
        summary: "Store a file of a thread as it is",
        tags: ["holdfast"],
        parameters: [thread, path],
        requestBody: { required: true, ...bytes },
        responses: { ...plain("What is known of it."), default: { $ref: "#/components/responses/Problem" } },
      },
    },
  };
}

const problemSchema: Schema = {
  type: "object",
  description: "A refusal (RFC 9457). Match on its code.",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string" },
    detail: { type: "string" },
    hint: { type: "string" },
    data: { type: "object" },
    request_id: { type: "string" },
  },
  required: ["type", "title", "status", "code", "detail", "request_id"],
};

/**
 * A schema refers to parts of itself by where they stand in it. In here they stand elsewhere: among the components, under
 * a name that says whose they are.
 */
function hoisted(schema: Schema, owner: string, schemas: Record<string, Schema>): Schema {
  const own = (name: string) => schemaName(`${owner}.${name}`);
  const moved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moved);
    if (!isMap(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => name !== "$schema" && name !== "$defs")
        .map(([name, inner]) => [name, name === "$ref" ? movedRef(String(inner)) : moved(inner)]),
    );
  };
  const movedRef = (to: string) => {
    if (to === "#") return ref(schemaName(owner)).$ref;
    return to.startsWith("#/$defs/") ? ref(own(to.slice("#/$defs/".length))).$ref : to;
  };
  for (const [name, part] of Object.entries(isMap(schema.$defs) ? schema.$defs : {})) {
    schemas[own(name)] = moved(part) as Schema;
  }
  return moved(schema) as Schema;
}

function schemaName(name: string): string {
  return name.replaceAll(/[^\w.-]/g, ".");
}

function ref(name: string) {
  return { $ref: `#/components/schemas/${name}` };
}

function json(schema: Schema) {
  return { "application/json": { schema } };
}
