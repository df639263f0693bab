// What every door of the HTTP server is built with: the runtime, and who calls, already known. A door turns a request into
// a call of an ability and the answer into its own protocol; it decides nothing.
import type { ServerResponse } from "node:http";
import type { Hono } from "hono";
import type { OperationError } from "../contracts/operation-error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Holdfast } from "../holdfast.ts";

/** What is known of a request before a door sees it. */
export type ServerEnv = {
  readonly Variables: {
    /** Told in every answer and every log line about the request. */
    requestId: string;
    principal: Principal;
    /** True at the paths of webhooks, whose senders read a refusal in its field `error`. */
    isWebhook?: boolean;
    /** What it was refused with, for the log. */
    refusal?: OperationError;
    /**
     * Takes a place for the stream that the answer will be, before anything is done that the stream would tell of; a
     * refusal when the caller holds as many as it may.
     */
    holdStream?: () => OperationError | undefined;
    /** True when there is a connection that a stream can be written to directly. */
    takesStreams?: boolean;
    /** Writes the stream that the answer is, once its headers are sent. */
    stream?: (outgoing: ServerResponse) => void;
  };
};

export type ServerApp = Hono<ServerEnv>;

export type ServerHost = {
  readonly holdfast: Holdfast;
  /** Fires when the server is to end: streams close, and clients come back elsewhere. */
  readonly closing: AbortSignal;
};

/** Adds the routes of one protocol. Who calls was found out before: `context.get("principal")`. */
export type Mount = (app: ServerApp, host: ServerHost) => void;
