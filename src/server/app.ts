// The HTTP server as a function from requests to answers: who may come in, and the doors they come to.
import { Hono } from "hono";
import { operationError, operationErrorOf } from "../contracts/operation-error.ts";
import type { Holdfast } from "../holdfast.ts";
import { chatDoor } from "./ai-sdk/chat-door.ts";
import { createArrival } from "./arrival.ts";
import { createAuthenticate } from "./authenticate.ts";
import { channelsDoor } from "./channels.ts";
import type { Mount, ServerApp, ServerHost } from "./door.ts";
import { createEntrance } from "./entrance.ts";
import { createFailures } from "./failures.ts";
import { filesDoor } from "./files-door.ts";
import { frontEndDoor } from "./front-end.ts";
import { PAYLOAD_BYTES, takesPayload } from "./gateway-paths.ts";
import { gatewayStreamRoutes, openGatewayRoutes } from "./gateway-routes.ts";
import { healthDoor } from "./health.ts";
import { jsonRpcDoor } from "./json-rpc.ts";
import { mcpDoor } from "./mcp/mcp-door.ts";
import { metricsDoor } from "./metrics-door.ts";
import { createOpenStreams } from "./open-streams.ts";
import { openAiDoor } from "./openai/openai-door.ts";
import { openAiErrors } from "./openai/openai-errors.ts";
import { openApiDoor } from "./openapi-door.ts";
import { problem } from "./problem.ts";
import { routesDoor } from "./routes.ts";
import { runStreamsDoor } from "./run-streams.ts";
import type { ServerOptions } from "./server-options.ts";
import { streamsDoor } from "./streams.ts";
import { ticketDoor } from "./ticket-door.ts";
import { createTickets } from "./tickets.ts";
import { tracing } from "./tracing.ts";

export type AppOptions = ServerOptions & {
  /** Fires when the server is to end. */
  readonly closing?: AbortSignal;
  /** What the server proves itself with at `/health`, to whoever knows the key too; it proves nothing unless given. */
  readonly proofKey?: string;
};

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Where files are sent. */
const FILE_PATH = /^\/threads\/[^/]+\/(files|content)\//;
/** A file within JSON takes a third more room, and what stands around it. */
const ROOM_IN_JSON = 1.4;

/** Doors for everybody: they tell nothing about anybody, or find out themselves who calls. */
const openDoors: readonly Mount[] = [openAiErrors, openApiDoor, channelsDoor];

/** Protocols that clients already speak. */
const protocolDoors: readonly Mount[] = [chatDoor, openAiDoor, mcpDoor, jsonRpcDoor, frontEndDoor];

export function createApp(holdfast: Holdfast, options: AppOptions = {}): ServerApp {
  const {
    closing = new AbortController().signal,
    maxBodyBytes = MAX_BODY_BYTES,
    maxFileBytes = MAX_FILE_BYTES,
  } = options;
  const fileBody = Math.ceil(maxFileBytes * ROOM_IN_JSON);
  const host: ServerHost = { holdfast, closing };
  const app: ServerApp = new Hono();
  const tickets = createTickets();
  const streams = createOpenStreams(holdfast, { max: options.maxStreams });
  closing.addEventListener("abort", streams.close, { once: true });

  app.use(tracing);
  const maxBytes = (path: string) => {
    if (FILE_PATH.test(path)) return fileBody;
    if (!holdfast.gateway) return maxBodyBytes;
    return holdfast.gateway.webhookBodyLimit(path) ?? (takesPayload(path) ? PAYLOAD_BYTES : maxBodyBytes);
  };
  const isWebhook = (path: string) => holdfast.gateway?.webhookBodyLimit(path) !== undefined;
  app.use(createArrival({ ...options, closing, maxBytes, isWebhook }));
  const holdUp = createFailures(options);
  const forEverybody = [
    ...openDoors,
    openGatewayRoutes(holdUp),
    healthDoor(options.proofKey),
    ...(options.openDoors ?? []),
  ];
  for (const mount of forEverybody) mount(app, host);

  app.use(createEntrance(createAuthenticate(holdfast, options, tickets), streams, holdUp, options));
  const doors: readonly Mount[] = [
    ticketDoor(tickets),
    streamsDoor(options),
    runStreamsDoor(options),
    gatewayStreamRoutes(options),
    filesDoor,
    metricsDoor,
    ...protocolDoors,
    routesDoor,
  ];
  for (const mount of [...doors, ...(options.doors ?? [])]) mount(app, host);

  app.notFound((context) => {
    const { method, path } = context.req;
    const allowed = methodsAt(app, path);
    if (allowed.length === 0) {
      return problem(context, operationError("route_not_found", `There is nothing at ${path}.`));
    }
    const refusal = operationError("method_not_allowed", `${path} takes ${allowed.join(", ")}, not ${method}.`);
    return problem(context, refusal, { Allow: allowed.join(", ") });
  });
  app.onError((error, context) => problem(context, operationErrorOf(error, "internal_error")));
  return app;
}

/** The methods of the routes at a path; what is there for every method is no route but a guard. */
function methodsAt(app: ServerApp, path: string): readonly string[] {
  return ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((method) =>
    app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
  );
}
