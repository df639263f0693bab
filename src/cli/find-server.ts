// The server that runs on this data, if one does. The file that says where may be of one that was killed, and anybody can
// listen on its port since: whoever answers there proves first that the file is his.
import { readFileSync } from "node:fs";
import { isMap } from "../contracts/json.ts";
import { isProof, NONCE_HEADER, PROOF_HEADER, randomText } from "../server/server-proof.ts";
import type { DataFolder } from "./data-folder.ts";

export type FoundServer = {
  readonly url: string;
  /** Whether it is the one that answers there now. Throws when nobody does. */
  isGenuine(signal?: AbortSignal | null): Promise<boolean>;
};

/** A server that has not answered by then does not run. */
const PATIENCE_MS = 2_000;

export async function findServer({ server: file }: DataFolder): Promise<FoundServer | undefined> {
  const url = readServer(file)?.url;
  if (url === undefined) return undefined;
  const found: FoundServer = {
    url,
    async isGenuine(signal) {
      // Read anew: one that was started in its place has another key.
      const now = readServer(file);
      return now?.url === url && (await hasKey(url, now.key, signal));
    },
  };
  const isRunning = await found.isGenuine(AbortSignal.timeout(PATIENCE_MS)).catch(() => false);
  return isRunning ? found : undefined;
}

async function hasKey(url: string, key: string, signal?: AbortSignal | null): Promise<boolean> {
  const nonce = randomText();
  const answer = await fetch(new URL("/health", url), {
    headers: { [NONCE_HEADER]: nonce },
    redirect: "error",
    ...(signal && { signal }),
  });
  await answer.body?.cancel();
  return answer.ok && isProof(key, nonce, answer.headers.get(PROOF_HEADER));
}

function readServer(file: string): { readonly url: string; readonly key: string } | undefined {
  try {
    const told: unknown = JSON.parse(readFileSync(file, "utf8"));
    const { url, proof_key: key } = isMap(told) ? told : {};
    return typeof url === "string" && typeof key === "string" ? { url, key } : undefined;
  } catch {
    return undefined;
  }
}
