// Which runtime a verb talks to: the server that is named, the one that runs beside the database, or the database itself.
import { readFileSync } from "node:fs";
import { isMap } from "../contracts/json.ts";
import type { Client } from "./client.ts";
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
  const named = url ?? env.HOLDFAST_URL ?? (await runningServer(project.data));
  if (named === undefined) return await openLocalClient(project, { runs });
  return openHttpClient(named, env.HOLDFAST_TOKEN ?? readToken(project.data));
}

/** The address of the server that runs on this data, if one does: a file that a killed one has left says nothing. */
async function runningServer({ server }: DataFolder): Promise<string | undefined> {
  const url = readServer(server);
  if (url === undefined) return undefined;
  try {
    const { ok } = await fetch(new URL("/health", url), { signal: AbortSignal.timeout(HEALTH_MS) });
    return ok ? url : undefined;
  } catch {
    return undefined;
  }
}

const HEALTH_MS = 2_000;

function readServer(file: string): string | undefined {
  try {
    const { url } = asRecord(JSON.parse(readFileSync(file, "utf8")));
    return typeof url === "string" ? url : undefined;
  } catch {
    return undefined;
  }
}

function readToken({ ownerToken }: DataFolder): string | undefined {
  try {
    return readFileSync(ownerToken, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isMap(value) ? value : {};
}
