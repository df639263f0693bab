// Values of every odd kind, as inputs of operations: made from their schemas, right in part and wrong in part.
import fc from "fast-check";
import { isMap, type UnknownMap } from "../../src/contracts/json.ts";

/** Texts at which programs stumble, and the names of what is there. */
export const oddTexts: readonly string[] = [
  ...[
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udc00x",
    "\ufffe",
    "\u202e",
    "é",
    "e\u0301",
    "🙂",
    "\r\n",
    "\t",
    "\u0085",
    "\u2028",
  ],
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "null", "undefined", "true", "NaN", "[object Object]"],
  ...[
    "../../etc/passwd",
    "/",
    "\\",
    ".",
    "..",
    "%00",
    "%",
    "${HOME}",
    "{payload.x}",
    "$1",
    "?",
    "#",
    "*",
    "';--",
    '"',
    "`id`",
  ],
  ...[
    "0",
    "-1",
    "1e309",
    "0x10",
    "9007199254740993",
    "9".repeat(15),
    "9".repeat(16),
    "9".repeat(40),
    "1.5",
    "-0",
    "+1",
  ],
  ...["1:x", "0:\0", "9007199254740991:x", "1:\ud800", `1:${"x".repeat(256)}`, ":", "x:y", "1795036703759000:x"],
  ...["0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2027-02-30T00:00:00Z", "2027-01-01T24:00:00Z"],
  ...[
    "2027-01-01T00:00:00+23:59",
    "now",
    "job:x",
    "run-x",
    "agentic.start",
    "agentic.tool_result",
    "x.y",
    "dead_letter",
  ],
  ...[
    "echoes",
    "handle",
    "look",
    "p",
    "sync",
    "default",
    "R1",
    "agentic-loop",
    "core.switch",
    "poll",
    "health",
    "init",
  ],
  ...["x".repeat(256), "x".repeat(257), "x".repeat(1_025), "🙂".repeat(128), "\0".repeat(256), "x".repeat(100_000)],
];

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 300 }) },
);
const number = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(0, -0, -1, 1, 200, 201, 1_000, 2 ** 53, 1e308, Number.NaN, Number.POSITIVE_INFINITY),
);
const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const map = fc.dictionary(
  text,
  fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(text, scalar, { maxKeys: 3 })),
  { maxKeys: 5 },
);
const anything = fc.oneof(scalar, map, fc.array(scalar, { maxLength: 3 }), fc.constant(undefined));

/** Mostly of the kind that the schema asks for. */
function anyOfSchema(schema: unknown): fc.Arbitrary<unknown> {
  if (!isMap(schema)) return anything;
  const { enum: names, type, properties, anyOf, const: only } = schema;
  const kinds: fc.Arbitrary<unknown>[] = [anything];
  if (only !== undefined) kinds.push(fc.constant(only));
  if (Array.isArray(names)) kinds.push(fc.constantFrom(...(names as unknown[])));
  if (Array.isArray(anyOf)) kinds.push(...anyOf.map(anyOfSchema));
  if (isMap(properties)) kinds.push(inputOf(schema));
  else if (type === "object") kinds.push(map);
  if (type === "string") kinds.push(text);
  if (type === "integer" || type === "number") kinds.push(fc.integer({ min: 1, max: 50 }), number, text);
  if (type === "boolean") kinds.push(fc.boolean());
  return kinds.length === 1
    ? anything
    : fc.oneof({ weight: 1, arbitrary: anything }, ...kinds.slice(1).map((arbitrary) => ({ weight: 6, arbitrary })));
}

/** An input: each field is there or not, right or wrong, and there may be more. */
export function inputOf(schema: unknown): fc.Arbitrary<UnknownMap> {
  const properties = isMap(schema) && isMap(schema.properties) ? schema.properties : {};
  const fields = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, anyOfSchema(each)]));
  const stray = fc.dictionary(
    text.filter((name) => name !== "__proto__"),
    anything,
    { maxKeys: 1 },
  );
  return fc.record(fields, { requiredKeys: [] }).chain((known) => stray.map((more) => ({ ...more, ...known })));
}

/** What is no map at all. */
export const noInput: fc.Arbitrary<unknown> = fc.oneof(scalar, fc.array(anything, { maxLength: 3 }));
