// The modes of sources and sections against the one in which a thread is used. Whatever cannot be read is taken for less.
import { trimmed } from "../contracts/coerce.ts";
import { cleanSlug } from "../contracts/context/clean-name.ts";
import { appliesIn, EVERY_MODE } from "../contracts/context/registration.ts";

/** As registries are to be asked: a mode of which no name is left would leave nothing out, and is here for none but all. */
export function modeAsked(mode: string): string {
  return cleanSlug(mode) || EVERY_MODE;
}

export function isForMode(modes: readonly string[], mode: string): boolean {
  return appliesIn(modes, modeAsked(mode));
}

/** True for a list of names of which something is left when they are cleaned: without any, it would be for all modes. */
export function isListOfModes(value: unknown): boolean {
  return Array.isArray(value) && value.every((mode) => trimmed(mode) !== undefined && cleanSlug(mode) !== "");
}
