// A plugin's state as a job reads it before it runs, and again when another job has changed it since.
import { HoldfastError } from "../../../contracts/error.ts";
import type { JsonMap } from "../../../contracts/json.ts";
import { noOwners, openOwners, type RunOwners } from "../agents/run-owners.ts";
import type { DispatchDeps } from "../deps.ts";
import { type Failure, preflightFailure } from "./settle.ts";

export type StoredState = {
  readonly value: JsonMap;
  readonly owners: RunOwners;
  readonly revision: number;
  readonly problem?: Failure;
};
export async function readState({ pluginState, sealed }: DispatchDeps, plugin: string): Promise<StoredState> {
  const stored = await pluginState.get(plugin);
  if (!stored) return { value: {}, owners: noOwners, revision: 0 };
  const { revision, sealed_state, sealed_owners } = stored;
  try {
    const owners = openOwners(sealed, plugin, sealed_owners);
    return { value: sealed.open("state", plugin, sealed_state), owners, revision };
  } catch (thrown) {
    if (!(thrown instanceof HoldfastError)) throw thrown;
    const error = `The state of the plugin ${plugin} cannot be read: ${thrown.message}`;
    return { value: {}, owners: noOwners, revision, problem: preflightFailure(error) };
  }
}
