// What was defined, as a thread's state offers it.
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";
import type { Host } from "../host.ts";
import type { ThreadState } from "./thread-state.ts";

type DefinitionState = Pick<
  ThreadState,
  "loadModel" | "loadPrompt" | "loadAgent" | "getModelNames" | "getPromptNames" | "getAgentNames"
>;

export function definitionState({ registry: { agents, models, prompts } }: Host): DefinitionState {
  return {
    loadModel: (name) => load("model", models, name),
    loadPrompt: (name) => load("prompt", prompts, name),
    loadAgent: (name) => load("agent", agents, name),
    getModelNames: () => [...models.keys()],
    getPromptNames: () => [...prompts.keys()],
    getAgentNames: () => [...agents.keys()],
  };
}

function load<Definition>(kind: string, known: ReadonlyMap<string, Definition>, name: string): Definition {
  const found = known.get(name);
  if (found === undefined) throw definitionNotFound(kind, name, known.keys());
  return found;
}

export function definitionNotFound(kind: string, name: string, known: Iterable<string>): HoldfastError {
  const names = [...known].sort().join(", ");
  return holdfastError("definition_not_found", `There is no ${kind} "${String(name)}" (there is: ${names || "none"}).`);
}
