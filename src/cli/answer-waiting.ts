// What a thread waits for, put to whoever sits in front of the terminal: a decision, or the result of a client tool.
import { isMap, type JsonMap } from "../contracts/json.ts";
import type { Client } from "./client.ts";
import { readJson } from "./read-option.ts";
import { sayOutcome } from "./say-outcome.ts";
import type { Terminal } from "./terminal.ts";

/** False when it was left open: nobody is there to ask, or they want to think about it. */
export async function answerWaiting(
  client: Client,
  terminal: Terminal,
  request: JsonMap,
  signal: AbortSignal,
): Promise<boolean> {
  const { id, kind, shown } = request;
  const { summary, tool_name, parameters } = isMap(shown) ? shown : {};
  // For a program that writes into a pipe: the next line that it sends is taken for the answer.
  if (terminal.isJson) terminal.answer({ type: "request.asked", request }, () => []);
  if (kind === "approval") {
    terminal.write(`${terminal.style("yellow", "A decision is needed:")} ${String(summary ?? tool_name)}\n`);
    const decision = await askDecision(terminal, signal);
    if (decision === "later") return later(terminal, "approval_required", request);
    await client.call("holdfast/submit-request", { request_id: id, decision });
    return true;
  }
  terminal.write(`${terminal.style("yellow", String(tool_name))} asks: ${JSON.stringify(parameters ?? {})}\n`);
  const answer = await terminal.ask("Result (text or JSON; nothing for later): ", signal);
  if (answer === undefined || answer.trim() === "") {
    return later(terminal, "runtime_tool_pending", request);
  }
  await client.call("holdfast/submit-request", { request_id: id, result: readJson(answer) });
  return true;
}

type Decision = "accepted" | "rejected" | "later";

const decisions: ReadonlyMap<string, Decision> = new Map([
  ...["y", "yes"].map((word) => [word, "accepted"] as const),
  ...["n", "no"].map((word) => [word, "rejected"] as const),
  ...["l", "later", ""].map((word) => [word, "later"] as const),
]);

/** Asked until it is answered: what was mistyped is neither a decision nor the next message. */
async function askDecision(terminal: Terminal, signal: AbortSignal): Promise<Decision> {
  for (;;) {
    const word = await terminal.ask("Agree? [y]es, [n]o, [l]ater: ", signal);
    if (word === undefined) return "later";
    const decision = decisions.get(word.trim().toLowerCase());
    if (decision !== undefined) return decision;
    terminal.note(`"${word.trim()}" is none of y, n and l.`);
  }
}

/** What is asked for stands there already; what to type later does not. */
function later(terminal: Terminal, status: string, { id = null, shown = null }: JsonMap): false {
  const [, ...commands] = sayOutcome({ status, waiting_for: { request_id: id, shown } });
  for (const line of ["It waits:", ...commands]) terminal.note(line);
  return false;
}
