// Where in a run a step, an item or a branch stands: positions, never ids, because ids are unique in their own list only
// and may be any text. The run itself is "", its second step "1", item or branch 14 of that step "1/14", and the first step
// there "1/14/0". Steps that undo others stand below "undo", those that run after a failure below "on_failure".

export const ROOT = "";
export const ROLLBACK = "undo";
export const ON_FAILURE = "on_failure";

/** True for a list of steps that is no part of a step. */
export function isTopList(path: string): boolean {
  return path === ROOT || path === ROLLBACK || path === ON_FAILURE;
}

/** The path of a position below a path. */
export function below(path: string, position: number): string {
  return path === ROOT ? String(position) : `${path}/${position}`;
}

/** The path that a path stands below. The run itself stands below none. */
export function parentOf(path: string): string {
  const end = path.lastIndexOf("/");
  return end === -1 ? ROOT : path.slice(0, end);
}

/** The position of a path below its parent. */
export function positionOf(path: string): number {
  return Number(path.slice(path.lastIndexOf("/") + 1));
}
