// Secrets that a test plants, and the search for them: in every form that a text may be written down in.
import { inspect } from "node:util";

export type Plants = {
  /** A new secret, named after where it is planted; it holds what JSON and addresses write differently. */
  plant(where: string): string;
  /** The same for places that take plain characters only, such as headers. */
  plantPlain(where: string): string;
  plantNumber(where: string): number;
  /** Something that was made elsewhere, and is as secret. */
  plantThis(where: string, secret: string): void;
  /** One that was planted. */
  known(where: string): string;
  /** Where the secrets that stand in the text were planted. */
  foundIn(text: string): readonly string[];
};

export function createPlants(): Plants {
  const planted = new Map<string, string>();
  const add = (where: string, secret: string) => {
    if (planted.has(where)) throw new Error(`There is a secret planted as ${where} already.`);
    planted.set(where, secret);
    return secret;
  };
  return {
    plant: (where) => add(where, `pl4nt~${where}~"\\ü/7`),
    plantPlain: (where) => add(where, `pl4nt~${where}~7`),
    plantNumber: (where) => Number(add(where, String(840_271_936_455_101 + planted.size))),
    plantThis: (where, secret) => void add(where, secret),
    known(where) {
      const secret = planted.get(where);
      if (secret === undefined) throw new Error(`There is no secret planted as ${where}.`);
      return secret;
    },
    foundIn: (text) =>
      [...planted].filter(([, secret]) => forms(secret).some((form) => text.includes(form))).map(([where]) => where),
  };
}

/** As it is, as JSON writes it, and JSON within JSON within JSON, as an address or a log does, and as the bytes of a file are read. */
function forms(secret: string): readonly string[] {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const written = [secret, inJson(secret), inJson(inJson(secret)), inJson(inJson(inJson(secret)))];
  const encoded = [encodeURIComponent(secret), encodeURI(secret)];
  return [...written, ...encoded, inspect(secret).slice(1, -1)].flatMap((form) => [
    form,
    Buffer.from(form).toString("latin1"),
  ]);
}
