import type { WorkflowProblem } from "../index.ts";

/** What is wrong with a file of workflows, and where. */
export function inOneLine({ file, line, column, message, code }: WorkflowProblem): string {
  return `${file}:${line}:${column}: ${message} (${code})`;
}
