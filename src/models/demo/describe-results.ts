// What came of the tools that were called, in words.
import type { Message } from "../../contracts/conversation/message.ts";
import { isContainer, isEmpty, isMap, type Json } from "../../contracts/json.ts";
import { LABEL } from "./words.ts";

/** A sentence for each result. */
export function describeResults(results: readonly Message[]): string {
  return `${LABEL} ${results.map(describe).join(" ")}`;
}

function describe({ payload, content }: Message): string {
  const tool = typeof payload.tool_name === "string" ? payload.tool_name : "the tool";
  const { status, success, result, error, metadata } = payload;
  if (status === "runtime_tool_pending") return `${tool} is waiting for somebody to bring its result.`;
  if (success !== false) return sentence(`${tool} is done`, inWords(result));
  const errorType = isMap(metadata) && typeof metadata.error_type === "string" ? metadata.error_type : "";
  const reason = typeof error === "string" ? error : typeof content === "string" ? content : "";
  return sentence(`${tool} ${failures.get(errorType) ?? "failed"}`, reason);
}

/** What is not simply a failure. */
const failures: ReadonlyMap<string, string> = new Map([
  ["approval_rejected", "was not run, because it was not approved"],
  ["action_policy_failed", "was not run, because nobody could tell whether it may"],
  ["action_forbidden", "was not run, because it is not allowed"],
  ["capability_denied", "was not run, because it is not allowed"],
  ["tool_call_gate_rejected", "was not run, because a rule stands against it"],
  ["pre_tool_mediation_rejected", "was not run, because a rule stands against it"],
  ["cancelled", "was not run, because it was called off"],
  ["tool_not_found", "cannot be called"],
  ["invalid_parameters", "was not run, because I filled it in wrongly"],
  ["missing_required_parameters", "was not run, because I filled it in wrongly"],
  ["invalid_arguments", "was not run, because I filled it in wrongly"],
  ["outcome_unknown", "was cut off, and nobody can tell whether it has run"],
  ["timeout", "took too long"],
]);

function sentence(beginning: string, rest: string): string {
  if (rest === "") return `${beginning}.`;
  return `${beginning}: ${rest}${/[.!?…]$/.test(rest) ? "" : "."}`;
}

const LONGEST = 400;

/** A result as people would say it: a text as it is, a map by its fields, anything else as JSON. */
function inWords(result: Json | undefined): string {
  if (result == null || result === "" || (isContainer(result) && isEmpty(result))) return "";
  const text =
    typeof result === "string"
      ? result
      : isMap(result)
        ? fieldsOf(result as Readonly<Record<string, Json>>)
        : JSON.stringify(result);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function fieldsOf(map: Readonly<Record<string, Json>>): string {
  const fields = Object.entries(map).map(
    ([name, value]) => `${name.replaceAll("_", " ")} ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return fields.join(", ");
}
