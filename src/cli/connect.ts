// Which runtime a verb talks to: the server that is named, the one that runs beside the database, or the database itself.
import { readFileSync } from "node:fs";
import type { Client } from "./client.ts";
import { shellWord } from "./command-here.ts";
import type { DataFolder } from "./data-folder.ts";
import { findServer } from "./find-server.ts";
import { openHttpClient, type ServerDoor } from "./http-client.ts";
import type { LocalOptions } from "./local-client.ts";
import type { OpenedProject } from "./project.ts";
import { shortPath } from "./short-path.ts";

export type DoorOptions = {
  readonly url?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly data: DataFolder;
};

/** Undefined where no server is named and none runs. */
export async function findDoor({ url, env, data }: DoorOptions): Promise<ServerDoor | undefined> {
  const { HOLDFAST_TOKEN: given, HOLDFAST_URL: usual } = env;
  const named = url ?? usual;
  if (named !== undefined && given !== undefined) return { url: named, token: given };
  const found = await findServer(data);
  // The token of this database is for the server on it alone, whatever other one is named.
  if (named !== undefined && !(found && isSamePlace(named, found.url))) return { url: named, token: undefined };
  if (found === undefined || given !== undefined) return found && { ...found, token: given };
  return { ...found, token: readToken(data), wayBack: wayBack(data) };
}

export type ConnectOptions = {
  /** Asked for only when there is no server: what is wrong with it is no concern of a server's. */
  project(): Promise<OpenedProject>;
} & LocalOptions;

export async function connect(door: ServerDoor | undefined, { project, ...options }: ConnectOptions): Promise<Client> {
  if (door) return openHttpClient(door);
  const { openLocalClient } = await import("./local-client.ts");
  return await openLocalClient(await project(), options);
}

function isSamePlace(named: string, url: string): boolean {
  return URL.canParse(named) && new URL(named).origin === new URL(url).origin;
}

/** Whoever can stop the server and open its files is the owner, whatever became of the token. */
function wayBack({ ownerToken }: DataFolder): string {
  const file = shellWord(shortPath(process.cwd(), ownerToken));
  return `The token in ${file} was revoked or is gone. Stop the server, type: holdfast tokens create holdfast > ${file}, and start it again.`;
}

function readToken({ ownerToken }: DataFolder): string | undefined {
  try {
    return readFileSync(ownerToken, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
