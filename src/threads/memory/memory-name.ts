// The name that an agent gives a memory, in the one spelling under which it is found again.

const LONGEST = 200;

/** Letters, digits, `.`, `_`, `-` and `/` for folders; undefined when nothing is left, or it points out of its folder. */
export function memoryName(given: string): string | undefined {
  const segments = given
    .normalize("NFC")
    .toLowerCase()
    .split("/")
    .map((segment) => segment.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^-+|-+$/g, ""));
  const isWhole = segments.every((segment) => /[^.]/.test(segment));
  const name = segments.join("/");
  return isWhole && name.length <= LONGEST ? name : undefined;
}
