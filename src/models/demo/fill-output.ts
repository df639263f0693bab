// A value of a schema, filled from a text where the text has something and otherwise with the simplest that is valid.
import { isMap, type Json, type JsonMap } from "../../contracts/json.ts";
import { fillMap } from "./fill-parameters.ts";
import { acceptsNull, boundsOf, fits, listed, mapOf, resolved, typeOf } from "./schema.ts";
import { readText } from "./tokens.ts";
import { unread } from "./unread.ts";

/** A value that the schema accepts. What tools have returned under a property's name counts before what the text says. */
export function fillOutput(schema: JsonMap, text: string, results: readonly Json[]): Json {
  const whole = resolved(schema, schema);
  const said = isMap(whole.properties) ? fillMap(whole, schema, unread(readText(text)), 0).parameters : {};
  const returned = Object.assign({}, ...results.filter(isMap)) as JsonMap;
  return complete(schema, { ...said, ...returned }, schema, 0);
}

const DEEPEST = 16;

/** The known value where it fits, completed where it lacks something; else a value made up. */
function complete(given: Json | undefined, known: Json | undefined, root: JsonMap, depth: number): Json {
  const schema = resolved(given, root);
  if ("const" in schema) return schema.const as Json;
  const type = typeOf(schema);
  if (type === "object") return completeMap(schema, mapOf(known), root, depth);
  if (type === "array") return completeList(schema, listed(known), root, depth);
  if (known !== undefined && !isMap(known) && !Array.isArray(known) && fits(schema, known)) return known;
  if (acceptsNull(given, root)) return null;
  const [choice] = listed(schema.enum);
  return choice ?? simplest(schema, type);
}

function completeMap(schema: JsonMap, known: JsonMap, root: JsonMap, depth: number): Json {
  const required = new Set(listed(schema.required));
  const entries = Object.entries(mapOf(schema.properties)).flatMap(([name, property]): [string, Json][] => {
    const has = Object.hasOwn(known, name);
    // What is optional is only worth filling with something; a schema that holds itself has to end somewhere.
    if (!required.has(name) && (!has || depth >= DEEPEST)) return [];
    const value = complete(property, has ? known[name] : undefined, root, depth + 1);
    return [[name, value]];
  });
  return Object.fromEntries(entries);
}

function completeList(schema: JsonMap, known: readonly Json[], root: JsonMap, depth: number): Json {
  const { minItems = 0, maxItems = Infinity } = schema;
  const first = listed(schema.prefixItems);
  const least = Math.max(Number(minItems), first.length);
  const length = depth >= DEEPEST ? least : Math.max(least, Math.min(known.length, Number(maxItems)));
  return Array.from({ length }, (_item, index) =>
    complete(first[index] ?? schema.items, known[index], root, depth + 1),
  );
}

function simplest(schema: JsonMap, type: string | undefined): Json {
  switch (type) {
    case "boolean":
      return false;
    case "integer":
    case "number":
      return simplestNumber(schema, type === "integer");
    case "string":
      return simplestText(schema);
    default:
      return null;
  }
}

/** As near to zero as the bounds let it be. */
function simplestNumber(schema: JsonMap, isWhole: boolean): number {
  const { least, most } = boundsOf(schema);
  const { multipleOf } = schema;
  const step = typeof multipleOf === "number" && multipleOf > 0 ? multipleOf : 1;
  const near = Math.min(Math.max(0, least), most);
  const up = Math.ceil(near / step) * step;
  const candidates = [near, up, up + step, up - step, (least + most) / 2, near + Number.EPSILON];
  return candidates.find((each) => (!isWhole || Number.isInteger(each)) && fits(schema, each)) ?? near;
}

/** One of each format that schemas name. */
const formatted: Readonly<Record<string, string>> = {
  date: "1970-01-01",
  "date-time": "1970-01-01T00:00:00Z",
  time: "00:00:00",
  duration: "PT0S",
  email: "demo@example.com",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  hostname: "example.com",
};

function simplestText(schema: JsonMap): string {
  const { format, minLength = 0 } = schema;
  const known = typeof format === "string" && Object.hasOwn(formatted, format) ? [formatted[format] as string] : [];
  const padded = "demo".padEnd(Number(minLength), "-");
  return (
    [...known, "", padded, "-".repeat(Number(minLength)), "0".repeat(Number(minLength)), "0", "a", "A"].find((each) =>
      fits(schema, each),
    ) ?? padded
  );
}
