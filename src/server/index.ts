// What `holdfast/server` offers: the HTTP door for programs that bring their own process, and what doors of your own are
// made with.
export { type AppOptions, createApp } from "./app.ts";
export { SIGNATURE_HEADER, signCaller } from "./caller-trust.ts";
export type { Mount, ServerApp, ServerEnv, ServerHost } from "./door.ts";
export { eventStream, type Frame } from "./event-stream.ts";
export { ownerToken } from "./owner-token.ts";
export { problem } from "./problem.ts";
export { type RunningServer, type ServeOptions, serve } from "./serve.ts";
export type { ServerOptions } from "./server-options.ts";
