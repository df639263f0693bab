// holdfast workflows …: what can be started, specs in files, and starting.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { isMap, type JsonMap } from "../../contracts/json.ts";
import type { LoadedWorkflows } from "../../index.ts";
import type { ShownTree } from "../../workflows/operations/tree.ts";
import { counted } from "../counted.ts";
import { inOneLine } from "../problem-line.ts";
import { Refusal } from "../refusal.ts";
import { inputOptions, inputsFor, readInputs } from "../runs/read-inputs.ts";
import { table } from "../terminal.ts";
import type { Verb, Work } from "../verb.ts";
import { sayResult, sayStarted } from "./runs.ts";

type Shown = {
  readonly workflow_id: string;
  readonly version: string;
  readonly title: string;
  readonly description: string;
  readonly inputs: JsonMap;
  readonly source: string;
  readonly steps: number;
};

export const workflowVerbs: readonly Verb[] = [
  {
    name: "workflows list",
    summary: "the workflows that can be started",
    async run({ terminal, client }) {
      const answer = await (await client()).call<{ workflows: readonly Shown[] }>("holdfast/list-workflows");
      terminal.answer(answer, ({ workflows }) => {
        if (workflows.length === 0) return "There are no workflows.";
        const rows = workflows.map(({ workflow_id, version, steps, inputs, title, description }) => [
          ...[workflow_id, version, String(steps), Object.keys(inputs).join(" "), title || description],
        ]);
        return table([["WORKFLOW", "VERSION", "STEPS", "INPUTS", "ABOUT"], ...rows]);
      });
    },
  },
  {
    name: "workflows show",
    summary: "one workflow: what it takes in, and its steps",
    takes: { "<workflow>": "the id of a workflow" },
    async run({ given, terminal, client }) {
      const input = { workflow_id: given.workflow };
      type Whole = Shown & { readonly spec: JsonMap | null };
      const found = await (await client()).call<Whole>("holdfast/get-workflow", input);
      terminal.answer(found, ({ workflow_id, version, source, title, description, inputs, spec }) => [
        `${workflow_id}  ${version}  ${source === "program" ? "of the program" : "a spec"}`,
        ...[title, description].filter((words) => words !== ""),
        ...inputLines(inputs),
        ...(spec === null ? [] : ["", JSON.stringify(spec, null, 2)]),
      ]);
    },
  },
  {
    name: "workflows check",
    summary: "read workflows from a file or a folder, and list what is wrong with them",
    takes: { "[path]": "a YAML or JSON file, or a folder with some; the working directory unless given" },
    examples: ["holdfast workflows check refund.workflow.yaml", "holdfast workflows check agents"],
    async run({ given, terminal, cwd, project }) {
      const path = typeof given.path === "string" ? given.path : ".";
      const { stepTypes = [], stepHandlers = {} } = (await project()).project;
      const { workflows, problems } = await load(path, cwd, [...Object.keys(stepHandlers), ...stepTypes]);
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
  {
    name: "workflows start",
    summary: "start a run of a workflow",
    takes: { "<workflow>": "the id of a workflow" },
    options: {
      ...inputOptions,
      "--key <key>": "your own name for this start: the same one again is the same run",
      "--tag <tag...>": "kept with the run, to find it by",
      "--continue-on-error": "carry steps behind one that failed out all the same",
      "--wait": "wait for the end, and print what came of it; exits with 0 when the run has succeeded",
      "--follow": "the same, and watch how it goes on",
    },
    examples: [
      "holdfast workflows start refund --input order=7 --follow",
      "holdfast workflows start refund --inputs @order.json --key mail-981 --wait",
    ],
    run: start,
  },
];

async function start(work: Work): Promise<void> {
  const { given, terminal, cwd, client: connect } = work;
  const typed = readInputs(given, cwd);
  const client = await connect({ runs: given.follow === true || given.wait === true });
  const { workflow: workflow_id, key, tag: tags, continueOnError } = given;
  // What is typed one by one is read as what the workflow takes it for.
  const about = typed.pairs.length === 0 ? {} : await client.call("holdfast/get-workflow", { workflow_id });
  const started = await client.call<ShownTree["run"] & { readonly outcome: string }>("holdfast/start-workflow", {
    ...{ workflow_id, inputs: inputsFor(typed, about) },
    ...(key !== undefined && { key }),
    ...(tags !== undefined && { tags }),
    ...(continueOnError === true && { continue_on_error: true }),
  });
  if (started.outcome === "repeated") terminal.note("It was started before, under this key.");
  if (given.wait !== true || given.follow === true) return await sayStarted(work, started);
  await sayResult(work, started.run_id);
}

/** Types of steps that the project adds are known. */
async function load(path: string, cwd: string, stepTypes: readonly unknown[]): Promise<LoadedWorkflows> {
  const { loadWorkflows, readWorkflowFile } = await import("../../index.ts");
  if (isFolder(resolve(cwd, path))) return loadWorkflows(path, { cwd, stepTypes });
  const read = readWorkflowFile(path, { cwd, stepTypes });
  return "spec" in read ? { workflows: [read], problems: [] } : { workflows: [], problems: read.problems };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function inputLines(inputs: JsonMap): readonly string[] {
  const rows = Object.entries(inputs).map(([name, input]) => {
    const { type = "", required = false } = isMap(input) ? input : {};
    return [name, String(type), required === true ? "required" : ""];
  });
  return rows.length === 0 ? [] : ["", ...table([["INPUT", "TYPE", ""], ...rows])];
}
