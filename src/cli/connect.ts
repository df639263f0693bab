// Which runtime a verb talks to: the server that is named, the one that runs beside the database, or the database itself.
import { readFileSync } from "node:fs";
import type { Client } from "./client.ts";
import { findServer } from "./find-server.ts";
import { openHttpClient } from "./http-client.ts";
import { openLocalClient } from "./local-client.ts";
import type { DataFolder, OpenedProject } from "./project.ts";

export type ConnectOptions = {
  readonly url?: string;
  readonly env: NodeJS.ProcessEnv;
  /** Opened only when there is no server. */
  readonly project: OpenedProject;
  readonly runs: boolean;
};

export async function connect({ url, env, project, runs }: ConnectOptions): Promise<Client> {
  const { HOLDFAST_TOKEN: given, HOLDFAST_URL: usual } = env;
  const named = url ?? usual;
  if (named !== undefined && given !== undefined) return openHttpClient(named, given);
  const found = await findServer(project.data);
  // The token of this database is for the server on it alone, whatever other one is named.
  if (named !== undefined && !(found && isSamePlace(named, found.url))) return openHttpClient(named, undefined);
  if (found === undefined) return await openLocalClient(project, { runs });
  return openHttpClient(found.url, given ?? readToken(project.data), found.isGenuine);
}

function isSamePlace(named: string, url: string): boolean {
  return URL.canParse(named) && new URL(named).origin === new URL(url).origin;
}

function readToken({ ownerToken }: DataFolder): string | undefined {
  try {
    return readFileSync(ownerToken, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
