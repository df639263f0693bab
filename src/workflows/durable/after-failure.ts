import { ON_FAILURE, ROLLBACK } from "../machine/path.ts";

/** True for what undoes steps, and for what runs after a failure: that is carried out also in a run that is stopped. */
export function isAfterFailure(path: string): boolean {
  return path.startsWith(`${ROLLBACK}/`) || path.startsWith(`${ON_FAILURE}/`);
}
