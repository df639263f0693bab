// What sources and sections are registered with alike: when they apply, in which order, and how they are called.
import { numeric } from "../coerce.ts";
import { emptyMap, isContainer, type Json, seal, snapshot } from "../json.ts";
import { cleanSlug, titleOf } from "./clean-name.ts";

/** The mode that stands for every mode. */
export const EVERY_MODE = "all";

const USUAL_PRIORITY = 50;

/** What is ordered by priority and then by name. */
type Ordered = { readonly priority: number; readonly name: string };

/** A whole number, low ones first. */
export function priorityOf(value: unknown): number {
  const number = numeric(value);
  return number === undefined ? USUAL_PRIORITY : Math.trunc(number) + 0; // the sum of -0 and 0 is 0
}

/** The modes of a list, cleaned and each once; every mode when there are none. */
export function modesOf(value: unknown): readonly string[] {
  const texts = Array.isArray(value) ? value.filter((mode) => typeof mode === "string") : [];
  const modes = [...new Set(texts.map(cleanSlug))].filter((mode) => mode !== "");
  return seal(modes.length === 0 ? [EVERY_MODE] : modes);
}

/** True when something with these modes applies in a mode; a mode that is blank or no text leaves nothing out. */
export function appliesIn(modes: readonly string[], mode: unknown): boolean {
  const asked = typeof mode === "string" ? cleanSlug(mode) : "";
  return asked === "" || modes.includes(EVERY_MODE) || modes.includes(asked);
}

/** A label, also an empty one, or one made of the name where none is given. */
export function labelOf(value: unknown, name: string): string {
  return typeof value === "string" ? value : titleOf(name);
}

/** A text, or none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A copy of a map or a list, which are a host's own. */
export function metaOf(value: unknown): Json {
  return isContainer(value) ? snapshot(value) : emptyMap;
}

/** Low priorities first, and names in byte order among equals. */
export function compareOrder(left: Ordered, right: Ordered): number {
  if (left.priority !== right.priority) return left.priority - right.priority;
  if (left.name === right.name) return 0;
  return left.name < right.name ? -1 : 1;
}
