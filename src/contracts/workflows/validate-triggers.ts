// What starts a workflow, and what is wrong with it.
import { isTruthyText, truthy } from "../coerce.ts";
import { asMap, isContainer, isEmpty, type UnknownMap } from "../json.ts";
import { missing, notMap, type SpecError, specError } from "./spec-error.ts";

/** The types of triggers that every host knows. */
export const triggerTypes: readonly string[] = ["on_demand", "wp_action", "cron"];

/** What is wrong with the triggers of a spec; `known` are the types that a host adds. */
export function triggerErrors(triggers: unknown, known: readonly unknown[]): SpecError[] {
  if (triggers == null || (isContainer(triggers) && isEmpty(triggers))) return [];
  if (!Array.isArray(triggers)) return [specError("triggers", "invalid_type", "The triggers are no list.")];
  const types = new Set<unknown>([...triggerTypes, ...known]);
  return triggers.flatMap((given, index) => {
    const trigger = asMap(given);
    const at = `triggers.${index}`;
    return trigger === undefined ? [notMap(at, "The trigger")] : checkTrigger(trigger, at, types);
  });
}

function checkTrigger(trigger: UnknownMap, at: string, types: ReadonlySet<unknown>): SpecError[] {
  const { type } = trigger;
  if (!isTruthyText(type)) return [missing(`${at}.type`, "The type of the trigger")];
  if (!types.has(type)) {
    return [specError(`${at}.type`, "unknown_trigger_type", `Triggers of the type "${type}" are not known here.`)];
  }
  if (type === "wp_action" && !truthy(trigger.hook)) return [missing(`${at}.hook`, "The name of the hook")];
  const isTimed = truthy(trigger.expression) || truthy(trigger.interval);
  return type === "cron" && !isTimed ? [missing(at, "An expression or an interval")] : [];
}
