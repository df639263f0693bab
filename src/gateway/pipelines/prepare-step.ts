// The job that a route comes to: its command, what is stored as its payload, and its context.
import type { GatewayEvent } from "../../contracts/gateway/protocol/event.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { chooseCommand } from "./choose-command.ts";
import { claimContext } from "./claim-context.ts";
import type { KnownPlugin } from "./compile/check-draft.ts";
import type { Emitter, Refusal, Route } from "./resolve.ts";

export type StepJob = {
  readonly plugin: string;
  readonly command: string;
  /** The event for `handle`, the event's payload for every other command. */
  readonly payload: JsonMap;
  /** Accumulated. */
  readonly context: JsonMap;
};

export type PreparedStep =
  | { readonly kind: "prepared"; readonly job: StepJob; readonly warnings: readonly string[] }
  /** Fails the job that emitted the event. */
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Templates of `with` are not expanded here: a path that is missing fails the job itself and not its parent. */
export function prepareStep(request: {
  readonly route: Route;
  readonly emitter?: Emitter;
  readonly plugins: ReadonlyMap<string, Pick<KnownPlugin, "commands">>;
}): PreparedStep {
  const { route, emitter, plugins } = request;
  const claimed = claimContext(route, emitter);
  if (claimed.kind === "refused") return claimed;
  const { step, event } = route;
  const { context, warnings } = claimed;
  if (step.kind === "switch") {
    return {
      kind: "prepared",
      job: { plugin: step.plugin, command: "handle", payload: eventMap(event), context },
      warnings,
    };
  }
  const { command, problem } = chooseCommand(step, event, plugins.get(step.plugin)?.commands ?? []);
  const payload = command === "handle" ? eventMap(event) : event.payload;
  const job = { plugin: step.plugin, command, payload, context };
  return { kind: "prepared", job, warnings: problem === undefined ? warnings : [...warnings, problem] };
}

/** The event as the map that a job stores. */
function eventMap(event: GatewayEvent): JsonMap {
  return { ...event };
}
