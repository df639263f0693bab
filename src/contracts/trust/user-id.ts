// How the number of a user, a token or a grant is read, wherever one is stated.
import { numeric } from "../coerce.ts";

/** The number of a user. What is not a whole number, or too large to be told from its neighbours, is nobody: 0. */
export function userId(value: unknown): number {
  const number = numeric(value);
  return number !== undefined && Number.isSafeInteger(number) ? number + 0 : 0;
}
