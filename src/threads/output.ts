// What an agent's last words are to be, and whether they are.
import { errorMessage } from "../contracts/error.ts";
import { isMap, type Json, type JsonMap, snapshot } from "../contracts/json.ts";
import type { Problem } from "./schemas/json-schema-problems.ts";
import { readSchema, type Validate } from "./schemas/tool-schema.ts";

/** The form that was asked for. */
export type Output = { readonly name: string; readonly schema: JsonMap; readonly validate: Validate };

/** Undefined for what is no schema. */
export function readOutput(given: unknown): Output | undefined {
  const read = readSchema(given);
  if (!read) return undefined;
  const { $schema: _dialect, ...schema } = read.json;
  const name = typeof schema.title === "string" && /^[A-Za-z][\w-]{0,63}$/.test(schema.title) ? schema.title : "answer";
  return { name, schema, validate: read.validate };
}

export type Judged =
  | { readonly ok: true; readonly value: Json }
  /** Words that a model can act on. */
  | { readonly ok: false; readonly problems: string };

export async function judge({ validate }: Output, text: string): Promise<Judged> {
  let parsed: Json;
  try {
    parsed = snapshot(JSON.parse(bare(text)));
  } catch (thrown) {
    return { ok: false, problems: `it is no JSON (${errorMessage(thrown)}).` };
  }
  const checked = await validate(parsed);
  if (!checked.ok) return { ok: false, problems: `${checked.problems.slice(0, MOST_TOLD).map(inWords).join("; ")}.` };
  return { ok: true, value: asJson(checked.value) ?? parsed };
}

const MOST_TOLD = 10;

function inWords({ path, message }: Problem): string {
  return path === "" ? message : `${path}: ${message}`;
}

/** Models like to put JSON between fences. */
function bare(text: string): string {
  const trimmed = text.trim();
  const firstLine = trimmed.indexOf("\n");
  // Line by line: an expression over the whole text would take for ever on one that is made of space.
  const isFenced = trimmed.endsWith("```") && /^```(?:json)?\s*$/i.test(trimmed.slice(0, Math.max(0, firstLine)));
  return isFenced ? trimmed.slice(firstLine, -3) : text;
}

/** What a schema makes of a value, such as a date, need not be JSON: then the value itself is kept. */
function asJson(value: unknown): Json | undefined {
  try {
    const copied = snapshot(value);
    return isMap(value) && Object.getPrototypeOf(value) !== Object.prototype ? undefined : copied;
  } catch {
    return undefined;
  }
}
