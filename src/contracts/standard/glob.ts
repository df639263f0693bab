// Which paths a glob names: `*` and `?` within a segment, `**` for any number of segments. Its time grows with the length
// of the glob times that of the path, whatever stands in them.
import { normalizePath } from "./file-path.ts";

/** A test for normal paths. A glob that does not begin with a slash begins at the root; it is read like a path. */
export function readGlob(glob: string): (path: string) => boolean {
  const pattern = segmentsOf(normalizePath(glob));
  return (path) => matchesPath(pattern, segmentsOf(path));
}

/** The directory below which everything lies that a glob can name, unless it names what stands in its place. */
export function directoryOfGlob(glob: string): string {
  const segments = segmentsOf(normalizePath(glob)).slice(0, -1);
  const open = segments.findIndex((segment) => /[*?]/.test(segment));
  return `/${segments.slice(0, open < 0 ? undefined : open).join("/")}`;
}

function segmentsOf(path: string): readonly string[] {
  return path.split("/").filter((segment) => segment !== "");
}

function matchesPath(pattern: readonly string[], path: readonly string[]): boolean {
  return matches(pattern, path, "**", (wanted, segment) => matches([...wanted], [...segment], "*", isSameLetter));
}

function isSameLetter(wanted: string, letter: string): boolean {
  return wanted === "?" || wanted === letter;
}

/**
 * True when the items are what the pattern wants, where `any` stands for any number of items. Only the last `any` is ever
 * tried again: whatever an earlier one could take more, the last one can.
 */
function matches(
  pattern: readonly string[],
  items: readonly string[],
  any: string,
  isWanted: (wanted: string, item: string) => boolean,
): boolean {
  let place = 0;
  let lastAny = -1;
  let resume = 0;
  for (let index = 0; index < items.length; ) {
    const wanted = pattern[place];
    if (wanted === any) {
      lastAny = place++;
      resume = index;
    } else if (wanted !== undefined && isWanted(wanted, items[index] ?? "")) {
      place++;
      index++;
    } else if (lastAny >= 0) {
      place = lastAny + 1;
      index = ++resume;
    } else return false;
  }
  return pattern.slice(place).every((wanted) => wanted === any);
}
