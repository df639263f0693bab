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
  if (kind === "approval") {
    terminal.write(`${terminal.style("yellow", "A decision is needed:")} ${String(summary ?? tool_name)}\n`);
    const word = await terminal.ask("Agree? [y]es, [n]o, [l]ater: ", signal);
    const decision = decisionOf(word);
    if (decision === undefined) return later(terminal, "approval_required", request);
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

function decisionOf(word: string | undefined): "accepted" | "rejected" | undefined {
  const [first] = word?.trim().toLowerCase() ?? "";
  if (first === "y") return "accepted";
  return first === "n" ? "rejected" : undefined;
}

function later(terminal: Terminal, status: string, { id = null, shown = null }: JsonMap): false {
  for (const line of sayOutcome({ status, waiting_for: { request_id: id, shown } })) terminal.note(line);
  return false;
}
