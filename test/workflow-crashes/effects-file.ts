// The world outside of a case: a file to which every effect is appended with its idempotency key, and nothing else is done.
import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";

export type Effect = { readonly name: string; readonly key: string };

export type EffectsFile = {
  append(effect: Effect): void;
  read(): readonly Effect[];
};

/** A line is written at once: a process that is killed has written all of it, or nothing. */
export function effectsFile(path: string): EffectsFile {
  return {
    append(effect) {
      const file = openSync(path, "a");
      try {
        writeSync(file, `${JSON.stringify(effect)}\n`);
      } finally {
        closeSync(file);
      }
    },
    read() {
      const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
      return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Effect);
    },
  };
}
