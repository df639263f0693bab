// What the step at a path is called.
import { ROLLBACK } from "../machine/path.ts";
import { stepAt, undoneBy, type Working } from "../machine/working.ts";

/** The id of the step at a path, which parts have not. What undoes a step is named after that step. */
export function idOfStep(working: Working, path: string): string | undefined {
  try {
    const isUndo = path.startsWith(`${ROLLBACK}/`) && path.split("/").length === 2;
    const { id } = stepAt(working, isUndo ? undoneBy(working, path) : path);
    return typeof id === "string" ? id : undefined;
  } catch {
    // A case of a branch that was chosen in an earlier attempt at the run may be another one now.
    return undefined;
  }
}
