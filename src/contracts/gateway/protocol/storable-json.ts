// JSON of foreign programs, made fit to be stored.
import { isContainer, type Json, type JsonMap } from "../../json.ts";
import { isStorable } from "../../storable-name.ts";

/** Levels of nesting. Deeper JSON is refused before it is parsed, so that no walk over it can exhaust the stack. */
export const MAX_JSON_LEVELS = 512;

/** True when brackets of a JSON text nest deeper than allowed. Looks at each character once. */
export function isTooDeep(text: string, levels: number = MAX_JSON_LEVELS): boolean {
  let level = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = closingQuote(text, index);
        break;
      case OPEN_LIST:
      case OPEN_MAP:
        level += 1;
        if (level > levels) return true;
        break;
      case CLOSE_LIST:
      case CLOSE_MAP:
        level -= 1;
        break;
    }
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

function closingQuote(text: string, open: number): number {
  for (let index = open + 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) return index;
    if (unit === BACKSLASH) index += 1;
  }
  return text.length;
}

/** Text without what databases have no place for: NUL and halves of characters become U+FFFD. */
export function storableText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", "\ufffd") : wellFormed;
}

/**
 * What `JSON.parse` returned, with all text and keys storable. Numbers beyond what can be written become null, and a key
 * `__proto__` is dropped: no reader can be handed one safely. The value is changed in place, which costs less than
 * parsing it did.
 */
export function storableJson(parsed: unknown): Json {
  switch (typeof parsed) {
    case "string":
      return isStorable(parsed) ? parsed : storableText(parsed);
    case "number":
      return Number.isFinite(parsed) ? parsed : null;
    case "boolean":
      return parsed;
    default:
      if (!isContainer(parsed)) return null;
      return Array.isArray(parsed) ? storableList(parsed) : storableMap(parsed as Record<string, unknown>);
  }
}

function storableList(list: unknown[]): Json {
  for (let index = 0; index < list.length; index++) {
    const item = list[index];
    const storable = storableJson(item);
    if (storable !== item) list[index] = storable;
  }
  return list as Json[];
}

function storableMap(map: Record<string, unknown>): Json {
  const keys = Object.keys(map);
  for (const key of keys) {
    const item = map[key];
    const storable = storableJson(item);
    if (storable !== item) map[key] = storable;
  }
  return (keys.every(isStorableKey) ? map : withStorableKeys(map)) as JsonMap;
}

function isStorableKey(key: string): boolean {
  return key !== "__proto__" && isStorable(key);
}

function withStorableKeys(map: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(map).filter(([key]) => key !== "__proto__");
  return Object.fromEntries(entries.map(([key, item]) => [storableText(key), item]));
}
