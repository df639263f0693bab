// What `holdfast dev` says when it serves: where, who answers, and what to type next. The tour has questions of its own;
// about the agents of a project nobody here knows what to ask them.
import { shellWord } from "./command-here.ts";
import type { Served } from "./what-is-served.ts";

export type WelcomeOptions = {
  /** What to type to talk. */
  readonly chat: string;
  /** What to type to give the tour's gateway a goal. */
  readonly start: string;
  /** What to type to start a workflow. */
  readonly startWorkflow: string;
  readonly reloads: boolean;
  readonly bold: (text: string) => string;
};

export function welcome(served: Served, options: WelcomeOptions): readonly string[] {
  const { chat, start, startWorkflow, reloads, bold } = options;
  const { url, token_file, agents, workflows, model } = served;
  return [
    `${bold("Holdfast")} listens on ${url}`,
    ...(agents.length === 0 ? NO_AGENTS : [`Agents: ${agents.join(", ")}`]),
    ...(workflows.length === 0 ? [] : [`Workflows: ${workflows.join(", ")}`]),
    ...(model === null ? [] : [modelLine(model)]),
    "",
    ...(agents.length === 0 ? [] : [bold("Talk, in another terminal:"), `  ${chat}`, ""]),
    bold(agents.length === 0 ? "With curl:" : "Or with curl:"),
    ...curls(served),
    "",
    ...workflowLines(served, startWorkflow, bold),
    ...(canFetchItself(served)
      ? [
          bold("Or start an agent run, which takes one turn per job and leaves its files in the data folder:"),
          `  ${start} "fetch ${url}/reference and produce a 2 para critique"`,
          "",
        ]
      : []),
    `Everything that can be asked for: ${url}/reference   (${url}/openapi.json)`,
    `The owner's token is in ${token_file}; whoever can read that file is the owner.`,
    "Kill this process whenever you like, with kill -9 too: threads and runs go on when it starts again.",
    ...(reloads
      ? ["Change the project's files whenever you like: it is served anew, and threads and runs go on."]
      : []),
  ];
}

/** What the workflows of a project take in is not known here. */
function workflowLines(
  { is_tour, workflows: [first] }: Served,
  startWorkflow: string,
  bold: WelcomeOptions["bold"],
): readonly string[] {
  if (first === undefined) return [];
  if (!is_tour) return [bold("Or start a workflow:"), `  ${startWorkflow} ${shellWord(first)} --follow`, ""];
  return [
    bold("Or start a workflow, watch it, and agree to what it asks in another terminal:"),
    `  ${startWorkflow} refund --input order=7 --follow`,
    "",
  ];
}

/** The tour's gateway may fetch from this address alone of those that are not public. */
function canFetchItself({ url, has_tour_gateway }: Served): boolean {
  return has_tour_gateway && new URL(url).hostname === "127.0.0.1";
}

const NO_AGENTS = [
  "There are no agents yet: name some in the agents of the project's file, made with agent({ slug, … }).",
];

function modelLine(model: string): string {
  return model === "demo"
    ? "Model: demo, which answers offline and by rules. A provider's key or HOLDFAST_MODEL=openai/gpt-5 brings a real one."
    : `Model: ${model}, by the environment. HOLDFAST_MODEL names another one; HOLDFAST_MODEL=demo answers offline.`;
}

function curls({ url, token_file, agents: [first], is_tour }: Served): readonly string[] {
  const bearer = `-H "Authorization: Bearer $(cat ${shellWord(token_file)})"`;
  const get = (path: string) => `  curl -s ${bearer} ${url}${path}`;
  const post = (path: string, body: object) =>
    `  curl -s ${bearer} -H "Content-Type: application/json" ${url}${path} -d '${JSON.stringify(body)}'`;
  if (first === undefined) return [get("/threads")];
  const say = (message: string) => post(`/agents/${first}/chat`, { message });
  if (!is_tour) return [say("Hello"), get("/threads")];
  return [
    say("Where is order 7?"),
    say("Please refund order 7, 12 euros."),
    `${get("/approvals")}   # what waits for a decision, with its request_id`,
    post("/approvals/REQUEST_ID", { decision: "accepted" }),
    get("/threads"),
  ];
}
