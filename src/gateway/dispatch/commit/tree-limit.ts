// How much a job tree may grow by.
import type { Applied } from "../execute/executed-job.ts";
import { isExempt } from "./store-commit.ts";

/** More jobs than a whole tree may have. */
export function isTooMany({ children }: Pick<Applied, "children">, most: number): boolean {
  return children.length >= most && counted(children) >= most;
}

/** `jobs`: those that count against the limit already. */
export function treeTooLarge(
  rootJobId: string,
  jobs: number,
  { children }: Pick<Applied, "children">,
  most: number,
): string {
  return `tree_too_large: The tree of job ${rootJobId} has ${jobs} jobs and would get ${counted(children)} more; service.max_tree_jobs is ${most}.`;
}

function counted(children: Applied["children"]): number {
  return children.filter((child) => !isExempt(child)).length;
}
