// Decides for an agent where no model is configured: by rules, offline, always the same. It follows one plan, that of the
// worked example: fetch the page that the goal names, write two paragraphs about it, done.
import { holdfastError } from "../../../contracts/error.ts";
import { isMap, type Json } from "../../../contracts/json.ts";
import { type PageText, writeCritique } from "./demo-critique.ts";
import type { CatalogueTool, PlanAnswer, PlanInput, Planner } from "./planner.ts";

const ADDRESS = /https?:\/\/[^\s"'<>)]+/;
const FETCHES = /fetch|reader|http/;
const WRITES = /fabric|files|write/;
const CRITIQUE = "artifacts/critique.md";

export const demoPlanner: Planner = {
  frame: ({ goal }) => ({
    todo: [
      "The page that the goal names has been read.",
      `${CRITIQUE} holds two paragraphs about it.`,
      "The run says where they are.",
    ],
    notes: `Decided by the demo planner, which follows rules: no model is configured. Goal: ${goal}`,
  }),

  plan: (input) => (input.steps_taken === 0 ? fetchPage(input) : storeCritique(input)),

  reflect({ steps_taken, result }) {
    const path = artifactIn(result);
    if (steps_taken <= 1 && path !== CRITIQUE) {
      return { decision: "continue", summary: "The page has been read.", next_focus: "Write the critique." };
    }
    return {
      decision: "done",
      summary: "The critique is written.",
      outcome: `Two paragraph critique generated in ${path ?? CRITIQUE} by the demo planner`,
      artifacts: [path ?? CRITIQUE],
    };
  },
};

/** Throws `invalid_argument`, which ends the job without another attempt, where there is nothing to fetch. */
function fetchPage({ goal, tools }: PlanInput): PlanAnswer {
  // The sentence goes on behind the address, or ends there.
  const url = ADDRESS.exec(goal)?.[0].replace(/[.,;:!?]$/, "");
  if (url === undefined) {
    const detail = "The demo planner needs a goal with the address of a page (http://…): no model is configured.";
    throw holdfastError("invalid_argument", detail);
  }
  const tool = toolLike(tools, FETCHES);
  if (tool === undefined) return null;
  return { decision: "act", tool, tool_payload: { url }, rationale: "The goal names a page; it has to be read first." };
}

function storeCritique({ tools, last_result }: PlanInput): PlanAnswer {
  const tool = toolLike(tools, WRITES);
  if (tool === undefined) return null;
  return {
    decision: "act",
    tool,
    tool_payload: { output_path: CRITIQUE, text: writeCritique(pageIn(last_result)) },
    rationale: "The page has been read; two paragraphs have to be written.",
  };
}

function toolLike(tools: readonly CatalogueTool[], words: RegExp): string | undefined {
  return (
    tools.find(({ name }) => words.test(name))?.name ?? tools.find(({ description }) => words.test(description))?.name
  );
}

function artifactIn(result: Json | undefined): string | undefined {
  if (!isMap(result)) return undefined;
  const { artifact_path: path } = result;
  return typeof path === "string" ? path : undefined;
}

/** The text of a page in the result of a tool. Of a large one only an excerpt is there. */
function pageIn(result: Json | undefined): PageText {
  if (!isMap(result)) return { text: typeof result === "string" ? result : "", isPart: false };
  const key = ["content", "text", "excerpt", "result"].find((each) => typeof result[each] === "string");
  const isPart = key === "excerpt" || result.content_clipped === true;
  return { text: key === undefined ? "" : String(result[key]), isPart };
}
