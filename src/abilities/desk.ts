// Where everything is asked for: whatever door a call came through, it passes here, and the same permission, the same
// decisions before it and the same observers apply.
import type { Abilities } from "../contracts/abilities/ability.ts";
import { dispatch } from "../contracts/abilities/dispatcher.ts";
import type { Hooks } from "../contracts/hooks.ts";
import { isOperationError, operationError } from "../contracts/operation-error.ts";
import type { PendingActionHost } from "../contracts/trust/stage-action.ts";
import { briefRefusal } from "./brief-refusal.ts";
import { type Caller, callContext, type Door, type Operation } from "./operation.ts";
import { reportUnplanned } from "./report-unplanned.ts";

export type DeskCaller = Pick<Caller, "principal" | "door" | "key" | "signal">;

export interface Desk {
  /** Those that may be used through a door; all of them unless given. */
  list(door?: Door): readonly Operation[];
  get(name: string): Operation | undefined;
  /** What the operation answers, or an operation error. Never throws. */
  call(name: string, input: unknown, caller: DeskCaller): Promise<unknown>;
}

export type DeskOptions = Pick<PendingActionHost, "pendingActionStore"> & {
  readonly hooks?: Hooks;
  /** Takes out of a text what nobody may be told: what code throws that nobody planned for may quote anything. */
  readonly clean?: (text: string) => string;
  /** Told what nobody planned for, through whatever door it was asked for; those who asked are told little of it. */
  readonly report?: (error: unknown) => void;
};

export function createDesk(
  operations: readonly Operation[],
  { clean = (text) => text, report, ...options }: DeskOptions = {},
): Desk {
  const byName = new Map(operations.map((operation) => [operation.name, operation]));
  if (byName.size < operations.length) throw new Error("Two operations have the same name.");
  const offered = new Map<Door, Abilities>();

  /** A door knows only what is offered through it: the rest is not there. */
  function through(door: Door): Abilities {
    const known = offered.get(door);
    if (known) return known;
    const own = new Map(operations.flatMap((each) => (each.doors.includes(door) ? [[each.name, each] as const] : [])));
    const abilities = { get: (name: string) => own.get(name), list: () => [...own.values()] };
    offered.set(door, abilities);
    return abilities;
  }

  return {
    list: (door) => (door === undefined ? operations : operations.filter(({ doors }) => doors.includes(door))),
    get: (name) => byName.get(name),
    async call(name, input, caller) {
      const { door, key, signal } = caller;
      const operation = byName.get(name);
      if (key !== undefined && operation?.effect === "read") {
        return operationError("invalid_input", `"${name}" changes nothing, so it takes no idempotency key.`);
      }
      const answer = await dispatch(name, input, {
        ...options,
        abilities: through(door),
        context: callContext(caller),
        ...(signal && { signal }),
        ...(report && { onThrown: (thrown: unknown, thrower: string) => reportUnplanned(report, thrower, thrown) }),
      });
      if (!isOperationError(answer)) return answer;
      const isUnplanned = answer.code === "ability_exception";
      return briefRefusal(isUnplanned ? operationError(answer.code, clean(answer.message)) : answer);
    },
  };
}
