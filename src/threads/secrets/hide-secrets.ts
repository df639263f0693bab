// A value as it may be stored and shown: without what stands where secrets do, and without the secrets that are known.
import { isMap, type Json, seal } from "../../contracts/json.ts";
import { REDACTED } from "../../contracts/tools/sensitive-keys.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import { isSecretName, marksAt, type SecretMarks } from "./secret-marks.ts";

/** The very value when there is nothing to hide. What is hidden becomes known, so that it is not told elsewhere. */
export function hideSecrets(value: Json, secrets: KnownSecrets, marks?: SecretMarks): Json {
  const holds = secrets.addFrom(value, marks);
  // Most values hold none, and nobody knows any: then one look at the keys was all.
  return holds || !secrets.isEmpty ? hidden(value, secrets, marks) : value;
}

function hidden(value: Json, secrets: KnownSecrets, marks: SecretMarks | undefined): Json {
  if (marks?.isHidden) return value === null ? null : REDACTED;
  if (typeof value === "string") return secrets.clean(value);
  if (typeof value === "number") return secrets.has(String(value)) ? REDACTED : value;
  if (typeof value !== "object" || value === null) return value;
  if (isMap(value)) return hiddenMap(value, secrets, marks);
  const list = value as readonly Json[];
  const shown = list.map((item) => hidden(item, secrets, marks?.each));
  return shown.some((item, index) => item !== list[index]) ? seal(shown) : list;
}

/** A word of small letters is what something is called. It has to stay that, whatever somebody chose as a password. */
function isName(key: string): boolean {
  return /^[a-z_]+$/.test(key);
}

function hiddenMap(map: { readonly [key: string]: Json }, secrets: KnownSecrets, marks: SecretMarks | undefined): Json {
  const shown: Record<string, Json> = {};
  let isChanged = false;
  for (const key of Object.keys(map)) {
    const item = map[key] as Json;
    const below = marks && marksAt(marks, key);
    const name = isName(key) ? key : secrets.clean(key);
    const told = isSecretName(key) || below?.isHidden ? REDACTED : hidden(item, secrets, below);
    if (told !== item || name !== key) isChanged = true;
    shown[name] = told;
  }
  return isChanged ? seal(shown) : map;
}
