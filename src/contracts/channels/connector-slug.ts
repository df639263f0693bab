// How connectors, providers and bridge clients are named: the names come from settings screens and remote programs, so
// several spellings stand for one.
import { lowered, scalarText, trim } from "../coerce.ts";

/** A name with dashes for underscores and small letters, without space around it. What else is in it stays. */
export function foldConnector(name: unknown): string {
  return lowered(trim((scalarText(name) ?? "").replaceAll("_", "-")));
}

/** A name of small letters, digits and dashes; anything else between them becomes a dash. Empty when nothing is left. */
export function bridgeSlug(name: unknown): string {
  const dashed = (scalarText(name) ?? "").replaceAll("_", "-").replace(/[^A-Za-z0-9-]+/g, "-");
  return lowered(trim(dashed, "-"));
}
