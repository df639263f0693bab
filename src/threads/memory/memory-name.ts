// The name that an agent gives a memory, in the one spelling under which it is found again.
import { trim } from "../../contracts/coerce.ts";

const LONGEST = 200;
/** What is longer before it is cleaned is not looked at. */
const LONGEST_GIVEN = 1_024;

/** Letters, digits, `.`, `_`, `-` and `/` for folders; undefined when nothing is left, or it points out of its folder. */
export function memoryName(given: string): string | undefined {
  if (given.length > LONGEST_GIVEN) return undefined;
  const segments = given
    .normalize("NFC")
    .toLowerCase()
    .split("/")
    .map((segment) => trim(segment.replace(/[^\p{L}\p{N}._-]+/gu, "-"), "-"));
  const isWhole = segments.every((segment) => /[^.]/.test(segment));
  const name = segments.join("/");
  return isWhole && name.length <= LONGEST ? name : undefined;
}
