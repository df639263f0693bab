// Erases what the gateway has stored on behalf of a person: payloads and answers of jobs, agent runs and their files.
import { readRun, storedRuns } from "../../contracts/gateway/agent/agentic-run.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { fileWorkspaces } from "../agent/workspace/file-workspace.ts";
import { personId } from "../person.ts";
import { openOwners, sealOwners } from "./agents/run-owners.ts";
import type { DispatchDeps } from "./deps.ts";

/**
 * Resolves with how many jobs there were. Rejects when the runs of an agent could not be read, with all that could be erased
 * gone. What such a job commits afterwards is not known to the agents any more. Agents that
 * are not configured any more are reached too.
 */
export async function eraseUser(
  { jobs, pluginState, sealed, workspaceRoot }: DispatchDeps,
  id: string,
): Promise<number> {
  const userId = personId(id);
  const workspaces = fileWorkspaces(workspaceRoot);
  const agents = (await pluginState.list()).filter(({ sealed_owners }) => sealed_owners !== null);
  const problems: unknown[] = [];
  // One agent whose state cannot be read leaves everything else to be erased.
  for (const { plugin } of agents) await forgetRuns(plugin).catch((thrown: unknown) => problems.push(thrown));
  const erased = await jobs.eraseUser(userId);
  if (problems.length > 0) throw problems[0];
  return erased;

  /** Until no other writer was faster. */
  async function forgetRuns(agent: string): Promise<void> {
    for (;;) {
      const stored = await pluginState.get(agent);
      if (!stored) return;
      const owners = openOwners(sealed, agent, stored.sealed_owners);
      const own = [...owners].flatMap(([runId, owner]) => (owner === userId ? [runId] : []));
      if (own.length === 0) return;
      const state = sealed.open("state", agent, stored.sealed_state);
      // Before the state, which says where they are; and after it, because a turn may have been under way.
      await removeFiles(state, own);
      const kept = new Map([...owners].filter(([, owner]) => owner !== userId));
      const next = sealed.seal("state", agent, withoutRuns(state, own));
      if (!(await pluginState.replace(agent, next, stored.revision, sealOwners(sealed, agent, kept)))) continue;
      await removeFiles(state, own);
      return;
    }
  }

  async function removeFiles(state: JsonMap, runIds: readonly string[]): Promise<void> {
    const runs = storedRuns(state);
    for (const runId of runIds) {
      const ref = Object.hasOwn(runs, runId) ? readRun(runs[runId])?.workspace_ref : undefined;
      if (ref) await workspaces.remove(ref);
    }
  }
}

function withoutRuns(state: JsonMap, runIds: readonly string[]): JsonMap {
  const { last_run_id, ...rest } = state;
  const runs = Object.fromEntries(Object.entries(storedRuns(state)).filter(([runId]) => !runIds.includes(runId)));
  const isGone = typeof last_run_id === "string" && runIds.includes(last_run_id);
  return { ...rest, runs, ...(!isGone && last_run_id !== undefined && { last_run_id }) };
}
