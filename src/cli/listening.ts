// What serve and dev can be told about where they listen and who may come.
import type { ServeOptions } from "../server/serve.ts";
import { whole } from "./read-option.ts";

export const listeningOptions = {
  "--host <address>": "what to listen on; 127.0.0.1 unless given, where only this machine can come",
  "--port <number>": "PORT, or 8484, unless given; 0 for any that is free",
  "--allow-host <name...>": "names under which the server is reached from elsewhere",
  "--allow-origin <origin...>": "web pages that may call, such as https://app.example",
} as const;

/** Plain data, so that it can be handed to another process. */
export type Listening = Pick<ServeOptions, "hostname" | "port" | "allowedHosts" | "allowedOrigins">;

const HIGHEST_PORT = 65_535;

export function listeningOf(given: Readonly<Record<string, unknown>>): Listening {
  const { host, allowHost, allowOrigin } = given;
  const port = whole("--port", given.port, HIGHEST_PORT);
  return {
    ...(typeof host === "string" && { hostname: host }),
    ...(port !== undefined && { port }),
    ...(Array.isArray(allowHost) && { allowedHosts: allowHost.map(String) }),
    ...(Array.isArray(allowOrigin) && { allowedOrigins: allowOrigin.map(String) }),
  };
}
