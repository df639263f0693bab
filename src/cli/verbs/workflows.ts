// holdfast workflows …: specs in files.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { LoadedWorkflows, WorkflowProblem } from "../../index.ts";
import { counted } from "../counted.ts";
import { Refusal } from "../refusal.ts";
import type { Verb } from "../verb.ts";

export const workflowVerbs: readonly Verb[] = [
  {
    name: "workflows check",
    summary: "read workflows from a file or a folder, and list what is wrong with them",
    takes: { "[path]": "a YAML or JSON file, or a folder with some; the working directory unless given" },
    examples: ["holdfast workflows check refund.workflow.yaml", "holdfast workflows check agents"],
    async run({ given, terminal, cwd }) {
      const path = typeof given.path === "string" ? given.path : ".";
      const { workflows, problems } = await load(path, cwd);
      const notices = workflows.flatMap((each) => each.notices);
      const found = workflows.map(({ spec: { id, version }, file }) => ({ id, version, file }));
      terminal.answer({ valid: problems.length === 0, workflows: found, problems, notices }, (answer) => [
        ...answer.problems.map(inOneLine),
        ...answer.notices.map((notice) => `${inOneLine(notice)} (notice)`),
        ...answer.workflows.map(({ id, file }) => `${id} (${file})`),
        ...(answer.valid ? [`${counted(answer.workflows.length, "workflow")}: no problems.`] : []),
      ]);
      if (problems.length > 0) {
        throw new Refusal({ code: "workflow_spec_invalid", message: `${counted(problems.length, "problem")} found.` });
      }
    },
  },
];

/** Types of steps that a program adds are not known here: its project is not loaded. */
async function load(path: string, cwd: string): Promise<LoadedWorkflows> {
  const { loadWorkflows, readWorkflowFile } = await import("../../index.ts");
  if (isFolder(resolve(cwd, path))) return loadWorkflows(path, { cwd });
  const read = readWorkflowFile(path, { cwd });
  return "spec" in read ? { workflows: [read], problems: [] } : { workflows: [], problems: read.problems };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function inOneLine({ file, line, column, message, code }: WorkflowProblem): string {
  return `${file}:${line}:${column}: ${message} (${code})`;
}
