// What a parameter is about, as far as its name, its description and its schema tell.
import type { JsonMap } from "../../contracts/json.ts";
import { typeOf } from "./schema.ts";
import { stem, stemsOf } from "./stem.ts";

export type Field = {
  readonly name: string;
  readonly schema: JsonMap;
  readonly type: string | undefined;
  /** Word by word. */
  readonly stems: readonly string[];
  readonly described: ReadonlySet<string>;
  readonly isRequired: boolean;
};

export function fieldOf(name: string, schema: JsonMap, isRequired: boolean): Field {
  const described = typeof schema.description === "string" ? stemsOf(schema.description) : [];
  const type = typeOf(schema);
  return { name, schema, type, stems: stemsOf(name), described: new Set(described), isRequired };
}

/** Kinds of things that are known by the words that name them. */
const kinds = {
  money: "cents amount price total sum cost fee euros dollars pounds money budget payment salary refund",
  hundredths: "cents cent pennies pence minor hundredths",
  currency: "currency",
  date: "date day when deadline due birthday until since start end",
  time: "time hour clock at",
  email: "email mail recipient to address",
  url: "url uri link website site page",
  place: "city town place location country destination region area where address street",
  person: "name person customer user recipient contact author owner employee guest who",
  identifier: "id number no code key order ticket invoice reference ref sku account iban booking case issue",
  prose:
    "query text message question content body note prompt input subject title comment reason term topic keyword task",
} as const;

type Kind = keyof typeof kinds;

const stemsOfKind: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(kinds).map(([kind, words]) => [kind, new Set(words.split(" ").map(stem))]),
);

/** True when the name says that the parameter is of that kind. */
export function isNamedAs(field: Field, kind: Kind): boolean {
  return isOfKind(field.stems, kind);
}

/** True when it is an amount of money. */
export function isMoney(field: Field): boolean {
  return (
    isNamedAs(field, "money") ||
    ["money", "currenc", "euro", "dollar", "cent"].some((word) => field.described.has(word))
  );
}

/** True when it counts cents rather than euros. */
export function isInHundredths(field: Field): boolean {
  return isOfKind([...field.stems, ...field.described], "hundredths");
}

function isOfKind(stems: readonly string[], kind: Kind): boolean {
  return stems.some((each) => stemsOfKind.get(kind)?.has(each));
}

/** Words of a name that say that it names something, and not what. */
const general: ReadonlySet<string> = new Set(["id", "number", "no", "name", "code", "key", "value", "ref"].map(stem));

/** Ways in which a text may name the parameter, the most exact first. */
export function namings(field: Field): readonly (readonly string[])[] {
  const telling = field.stems.filter((each) => !general.has(each));
  const single = [...telling, ...field.stems].map((each) => [each]);
  const all = [field.stems, telling, ...single].filter((each) => each.length > 0);
  return all.filter((each, index) => all.findIndex((other) => other.join(" ") === each.join(" ")) === index);
}
