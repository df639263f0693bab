// The arguments of a call while a model is still writing them, as they may be shown: what transcripts hide is hidden here
// too, before anybody has seen a letter of it.
import type { UnknownMap } from "../../contracts/json.ts";
import { sensitivePaths } from "../../contracts/tools/exposure.ts";
import { isSensitiveKey, REDACTED } from "../../contracts/tools/sensitive-keys.ts";

/** A map or list that is open: the path of what it holds, or what it begins with, and whether all of that is hidden. */
type Open = { readonly isList: boolean; readonly path: string; readonly hidesAll: boolean };

/** Nobody nests arguments deeper who wants them to be read. */
const DEEPEST = 100;

/**
 * Takes in the JSON of a call's arguments piece by piece and gives back what may be shown of each piece. As soon as it is
 * no JSON map any more, nothing more is shown.
 */
export function createInputRedactor(definition: UnknownMap | null): (piece: string) => string {
  const hidden = new Set(sensitivePaths(definition));
  const open: Open[] = [];
  let next: "value" | "first key" | "key" | "colon" | "first item" | "rest" | "nothing" = "value";
  let within: "key" | "string" | "scalar" | undefined;
  let isEscaped = false;
  let key = "";
  let path = "";
  /** How many maps and lists were open when something hidden began; undefined when nothing is hidden. */
  let hiddenAt: number | undefined;
  let shown = "";

  function show(text: string): void {
    if (hiddenAt === undefined) shown += text;
  }

  function beginValue(): void {
    const around = open.at(-1);
    if (around?.isList) path = around.path;
    const isHidden = around && (around.hidesAll || (!around.isList && (isSensitiveKey(key) || hidden.has(path))));
    if (!isHidden || hiddenAt !== undefined) return;
    show(JSON.stringify(REDACTED));
    hiddenAt = open.length;
  }

  function endValue(): void {
    if (hiddenAt === open.length) hiddenAt = undefined;
    next = open.length === 0 ? "nothing" : "rest";
  }

  function enter(isList: boolean): boolean {
    const inside = isList ? `${path}.*` : open.length === 0 ? "" : `${path}.`;
    open.push({ isList, path: inside, hidesAll: hidden.has(isList ? inside : `${inside}*`) });
    next = isList ? "first item" : "first key";
    return open.length <= DEEPEST;
  }

  /** A character of a key, a text, a number or a word. False when it is not part of that any more. */
  function inside(character: string): boolean {
    if (within === "scalar") {
      if (!/[,\]}\s]/.test(character)) {
        show(character);
        return true;
      }
      within = undefined;
      endValue();
      return false;
    }
    show(character);
    if (within === "key") key += character;
    if (isEscaped) isEscaped = false;
    else if (character === "\\") isEscaped = true;
    else if (character === '"') endText();
    return true;
  }

  function endText(): void {
    if (within === "key") {
      key = JSON.parse(key);
      path = `${open.at(-1)?.path}${key}`;
      next = "colon";
    } else endValue();
    within = undefined;
  }

  /** A character between keys and values. False when none of the kind may stand here. */
  function between(character: string): boolean {
    const isValue = next === "value" || next === "first item";
    const around = open.at(-1);
    switch (character) {
      case '"':
        if (isValue ? !around : next !== "key" && next !== "first key") return false;
        if (isValue) beginValue();
        else key = character;
        within = isValue ? "string" : "key";
        show(character);
        return true;
      case "{":
      case "[":
        if (!isValue || (!around && character === "[")) return false;
        beginValue();
        show(character);
        return enter(character === "[");
      case "}":
      case "]":
        if (!around || around.isList !== (character === "]")) return false;
        if (next !== "rest" && next !== (around.isList ? "first item" : "first key")) return false;
        show(character);
        open.pop();
        endValue();
        return true;
      case ":":
      case ",":
        if (next !== (character === ":" ? "colon" : "rest")) return false;
        show(character);
        next = character === ":" || around?.isList ? "value" : "key";
        return true;
      default:
        if (!/\s/.test(character)) {
          if (!isValue || !around) return false;
          beginValue();
          within = "scalar";
        }
        show(character);
        return true;
    }
  }

  let isBroken = false;
  return (piece) => {
    shown = "";
    try {
      for (let place = 0; place < piece.length && !isBroken; place++) {
        const character = piece.charAt(place);
        isBroken = !(within && inside(character)) && !between(character);
      }
    } catch {
      isBroken = true;
    }
    return shown;
  };
}
