// The gateway's values as they lie in the database: encrypted, and bound to the row they belong to.
import { isMap, type JsonMap } from "../../../contracts/json.ts";
import type { Sealing } from "../../../threads/secrets/sealing.ts";

export type Sealed = "payload" | "context" | "state" | "owners" | "fact" | "response" | "stderr" | "error";

export type SealedJson = {
  sealText(kind: Sealed, owner: string, text: string): string;
  openText(kind: Sealed, owner: string, sealed: string): string;
  seal(kind: Sealed, owner: string, value: JsonMap): string;
  /** Throws `secret_key_mismatch` for what was sealed with another key or for another row. */
  open(kind: Sealed, owner: string, sealed: string): JsonMap;
  /** The same letters for the same text: what a unique row compares instead of a key that callers choose. */
  digest(text: string): string;
};

export function createSealedJson(sealing: Sealing): SealedJson {
  const about = (kind: Sealed, owner: string) => `gateway ${kind} ${owner}`;
  const sealText = (kind: Sealed, owner: string, text: string) => sealing.seal(text, about(kind, owner));
  const openText = (kind: Sealed, owner: string, sealed: string) => sealing.open(sealed, about(kind, owner));
  return {
    sealText,
    openText,
    seal: (kind, owner, value) => sealText(kind, owner, JSON.stringify(value)),
    open(kind, owner, sealed) {
      const value: unknown = JSON.parse(openText(kind, owner, sealed));
      return isMap(value) ? (value as JsonMap) : {};
    },
    digest: (text) => sealing.bind(text, "gateway dedupe"),
  };
}
