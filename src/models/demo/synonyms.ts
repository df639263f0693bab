// Words that mean the same in what people ask for and in what tools are called, and words that mean nothing there.
import { stem } from "./stem.ts";

/** Each group in any order; a word may stand in several. */
const groups: readonly (readonly string[])[] = [
  ["refund", "reimburse", "repay", "money-back"],
  ["pay", "transfer", "wire"],
  ["buy", "purchase"],
  ["find", "search", "lookup", "look"],
  ["calculate", "compute", "calculator"],
  ["location", "where", "place", "city", "town"],
  ["time", "when", "clock"],
  ["customer", "client"],
  ["cancel", "abort", "revoke", "annul"],
  ["delete", "remove", "erase", "drop", "forget"],
  ["create", "add", "make", "new", "register"],
  ["update", "change", "edit", "modify", "rename", "set"],
  ["send", "deliver", "forward"],
  ["publish", "post", "release"],
  ["book", "reserve", "reservation", "booking"],
  ["schedule", "plan", "appointment"],
  ["remind", "reminder"],
  ["translate", "translation"],
  ["weather", "temperature", "forecast", "warm", "cold", "hot", "rain", "sunny"],
  ["price", "cost", "amount"],
];

const meanings: ReadonlyMap<string, ReadonlySet<string>> = (() => {
  const found = new Map<string, Set<string>>();
  for (const group of groups) {
    const stems = group.map(stem);
    for (const each of stems) found.set(each, new Set([...(found.get(each) ?? []), ...stems]));
  }
  return found;
})();

/** True for two stems of one group, and for two that are the same. */
export function meanTheSame(left: string, right: string): boolean {
  return left === right || (meanings.get(left)?.has(right) ?? false);
}

const silent = [
  "a an the this that these those my your our their his her its some any",
  "i me you we us they he she it who whom which what how why",
  "is are was were be been am do does did done has have had will would can could shall should may might must",
  "of to in on at by for from with into about as than then and or but if so not no yes please thanks thank hello hi",
  "there here now just only also very too one want wants like need let lets us them",
];

/** Stems that tell nothing about what is wanted. */
export const silentStems: ReadonlySet<string> = new Set(silent.flatMap((line) => line.split(" ")).map(stem));
