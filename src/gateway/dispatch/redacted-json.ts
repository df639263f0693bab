// JSON text without the known secrets. A secret of digits may be a part of a number, and blanking it out there would leave no
// JSON: then every text and every number is looked at by itself.
import { isTooDeep } from "../../contracts/gateway/protocol/storable-json.ts";
import { isMap, type Json } from "../../contracts/json.ts";

/** Text that is no JSON is redacted too. */
export function redactedJson(text: string, redact: (text: string) => string): string {
  const redacted = redact(text);
  if (redacted === text || isJson(redacted) || isTooDeep(text) || !isJson(text)) return redacted;
  return JSON.stringify(withoutSecrets(JSON.parse(text) as Json, redact));
}

function withoutSecrets(value: Json, redact: (text: string) => string): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withoutSecrets(item, redact));
  if (isMap(value)) {
    const entries = Object.entries(value as { readonly [key: string]: Json });
    return Object.fromEntries(entries.map(([key, each]) => [redact(key), withoutSecrets(each, redact)]));
  }
  if (value === null || typeof value === "boolean") return value;
  const text = String(value);
  const shown = redact(text);
  return shown === text ? value : shown;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
