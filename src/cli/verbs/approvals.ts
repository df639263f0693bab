// holdfast approvals … and holdfast requests …: what threads wait for, and the answers.
import type { JsonMap } from "../../contracts/json.ts";
import { readJson, whole } from "../read-option.ts";
import { noteMore, table } from "../terminal.ts";
import type { Verb, Work } from "../verb.ts";

type Approval = JsonMap & { readonly request_id: string; readonly status: string; readonly summary: string };

type ApprovalsPage = { readonly approvals: readonly Approval[]; readonly next?: string };

type RequestsPage = { readonly requests: readonly JsonMap[]; readonly next?: string };

const request = { "<request>": "the id of a request" };

export const approvalVerbs: readonly Verb[] = [
  {
    name: "approvals list",
    summary: "what waits for a decision",
    options: {
      "--all": "also what was decided",
      "--limit <number>": "how many at most; 50 unless given",
      "--after <place>": "those after this place, or after this request",
    },
    async run({ given, terminal, client }) {
      const { after } = given;
      const input = { after, limit: whole("--limit", given.limit), ...(given.all !== true && { status: "pending" }) };
      const answer = await (await client()).call<ApprovalsPage>("holdfast/list-approvals", input);
      terminal.answer(answer, ({ approvals }) => {
        if (approvals.length === 0) return "Nothing waits for a decision.";
        const rows = approvals.map((each) => [each.request_id, each.status, String(each.created_at), each.summary]);
        return table([["REQUEST", "STATUS", "SINCE", "WHAT"], ...rows]);
      });
      noteMore(terminal, answer.next);
    },
  },
  {
    name: "approvals show",
    summary: "all that is shown of a proposed action",
    takes: request,
    async run({ given, terminal, client }) {
      const approval = await (await client()).call("holdfast/get-approval", { request_id: given.request });
      terminal.answer(approval, (found) => JSON.stringify(found, null, 2));
    },
  },
  {
    name: "approvals accept",
    summary: "agree: the tool runs",
    takes: request,
    options: {
      "--reason <words>": "why",
      "--parameters <json>": "run it with other parameters than were proposed",
      "--remember": "for the next calls of this tool too",
    },
    run: (work) => decide(work, "accepted"),
  },
  {
    name: "approvals reject",
    summary: "refuse: the tool does not run",
    takes: request,
    options: { "--reason <words>": "why; the model is told", "--remember": "for the next calls of this tool too" },
    run: (work) => decide(work, "rejected"),
  },
  {
    name: "requests list",
    summary: "what threads wait for: client tools, approvals, variables",
    options: {
      "--thread <thread>": "only those of a thread",
      "--all": "also those that were answered",
      "--limit <number>": "how many at most; 50 unless given",
      "--after <place>": "those after this place, or after this request",
    },
    async run({ given, terminal, client }) {
      const { thread: thread_id, after } = given;
      const input = {
        ...{ thread_id, after },
        limit: whole("--limit", given.limit),
        ...(given.all !== true && { status: "pending" }),
      };
      const answer = await (await client()).call<RequestsPage>("holdfast/list-requests", input);
      terminal.answer(answer, ({ requests }) => {
        if (requests.length === 0) return "Nothing is waited for.";
        const rows = requests.map((each) =>
          [each.id, each.kind, each.status, each.created_at, each.tool_name].map(String),
        );
        return table([["REQUEST", "KIND", "STATUS", "SINCE", "TOOL"], ...rows]);
      });
      noteMore(terminal, answer.next);
    },
  },
  {
    name: "requests show",
    summary: "one request, with what the client is to run",
    takes: request,
    async run({ given, terminal, client }) {
      const found = await (await client()).call("holdfast/get-request", { request_id: given.request });
      terminal.answer(found, (shown) => JSON.stringify(shown, null, 2));
    },
  },
  {
    name: "requests submit",
    summary: "bring the result of a client tool, or why there is none",
    takes: request,
    options: {
      "--result <json>": "what came of it; text that is no JSON is text",
      "--error <words>": "why nothing did",
    },
    examples: [`holdfast requests submit <request> --result '{"city": "Rome"}'`],
    async run({ given, terminal, client }) {
      const { error, result } = given;
      const answer = typeof error === "string" ? { error } : { result: readJson(result) };
      const input = { request_id: given.request, ...answer };
      terminal.answer(await (await client()).call("holdfast/submit-request", input), () => "Submitted.");
    },
  },
];

async function decide({ given, terminal, client }: Work, decision: "accepted" | "rejected"): Promise<void> {
  const { request: request_id, reason, parameters, remember } = given;
  const answer = await (await client()).call("holdfast/decide-approval", {
    ...{ request_id, decision, reason, remember },
    ...(parameters !== undefined && { parameters: readJson(parameters) }),
  });
  terminal.answer(answer, () => (decision === "accepted" ? "Accepted." : "Rejected."));
}
