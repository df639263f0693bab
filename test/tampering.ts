// Ways to change an export, one at a time: every value, every list and every map that it is made of.

type Step = string | number;

/** A place in a value: what stands there, and the whole with something else there. */
export type Place = {
  readonly path: readonly Step[];
  readonly value: unknown;
  /** Only what is above the place is copied. */
  replaced(value: unknown): unknown;
};

export function placesIn(whole: unknown): readonly Place[] {
  const found: Place[] = [];
  const visit = (value: unknown, path: readonly Step[]): void => {
    found.push({ path, value, replaced: (other) => replaceAt(whole, path, other) });
    if (typeof value !== "object" || value === null) return;
    for (const key of Object.keys(value)) {
      visit((value as Record<Step, unknown>)[key], [...path, Array.isArray(value) ? Number(key) : key]);
    }
  };
  visit(whole, []);
  return found;
}

function replaceAt(value: unknown, [step, ...rest]: readonly Step[], other: unknown): unknown {
  if (step === undefined) return other;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<Step, unknown>;
  copy[step] = replaceAt(copy[step], rest, other);
  return copy;
}

type Change = { readonly change: string; readonly changed: unknown };

/** Every way to change what stands at a place; `seed` chooses where in a text or list. */
export function changesTo(place: Place, seed: number): readonly Change[] {
  const ways = Array.isArray(place.value) ? ofList(place.value, seed) : ofOther(place.value, seed);
  return ways
    .filter(([, value]) => !isSame(value, place.value))
    .map(([change, value]) => ({ change, changed: place.replaced(value) }));
}

type Way = readonly [change: string, value: unknown];

function ofList(list: readonly unknown[], seed: number): readonly Way[] {
  const at = list.length === 0 ? 0 : seed % list.length;
  const other = list.length === 0 ? 0 : (at + 1 + (seed % Math.max(1, list.length - 1))) % list.length;
  const swapped = [...list];
  [swapped[at], swapped[other]] = [list[other], list[at]];
  return [
    ["dropping", list.toSpliced(at, 1)],
    ["doubling", list.toSpliced(at, 0, ...list.slice(at, at + 1))],
    ["swapping", swapped],
    ["cutting off", list.slice(0, at)],
    ["cutting off the last", list.slice(0, -1)],
    ["turning round", list.toReversed()],
    ["adding", [...list, null]],
    ["emptying", []],
    ["replacing by a map", {}],
    ["replacing by nothing", null],
  ];
}

function ofOther(value: unknown, seed: number): readonly Way[] {
  switch (typeof value) {
    case "string":
      return ofText(value, seed);
    case "number":
      return [value + 1, value - 1, -value, value + 0.5, String(value), null].map((other) => ["changing", other]);
    case "boolean":
      return [
        ["turning", !value],
        ["replacing by a number", value ? 1 : 0],
      ];
    case "object":
      return value === null ? ["", 0, false, [], {}].map((other) => ["filling", other]) : ofMap(value, seed);
    default:
      return [];
  }
}

function ofText(text: string, seed: number): readonly Way[] {
  const at = text.length === 0 ? 0 : seed % text.length;
  const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << (seed % 7)));
  const with_ = (piece: string) => text.slice(0, at) + piece + text.slice(at + 1);
  return [
    ["flipping a bit", text === "" ? "x" : with_(flipped)],
    ["dropping a letter", with_("")],
    ["doubling a letter", text.slice(0, at + 1) + text.slice(at)],
    ["half a letter", with_("\ud800")],
    ["upper case", text.toUpperCase()],
    ["a line break", `${text}\n`],
    ["padding", `${text}=`],
    ["emptying", ""],
    ["replacing by nothing", null],
  ];
}

function ofMap(map: object, seed: number): readonly Way[] {
  const entries = Object.entries(map);
  const dropped = entries.toSpliced(seed % Math.max(1, entries.length), 1);
  return [
    ["dropping a field", Object.fromEntries(dropped)],
    ["adding a field", { ...map, more: 1 }],
    ["adding a field of nothing", JSON.parse(JSON.stringify(map).replace(/^\{/, '{"__proto__":1,'))],
    ["replacing by a list", []],
  ];
}

function isSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  return !Object.is(left, -0) && !Object.is(right, -0) && JSON.stringify(left) === JSON.stringify(right);
}
