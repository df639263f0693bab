// Erases what the gateway has stored on behalf of a person: payloads and answers of jobs, agent runs and their files.
import { storedRuns } from "../../contracts/gateway/agentic-run.ts";
import { fileWorkspaces } from "../agent/file-workspace.ts";
import type { AgentRunView } from "../gateway.ts";
import type { DispatchDeps } from "./deps.ts";

/** Resolves with how many jobs there were. What such a job commits afterwards is not known to the agents any more. */
export async function eraseUser(
  { jobs, pluginState, sealed, workspaceRoot }: DispatchDeps,
  userId: string,
  runs: readonly AgentRunView[],
): Promise<number> {
  const workspaces = fileWorkspaces(workspaceRoot);
  for (const { run_id, agent, job_id, workspace_ref } of runs) {
    const job = job_id === null ? undefined : await jobs.get(job_id);
    if (job?.user_id !== userId) continue;
    await forgetRun(agent, run_id);
    await workspaces.remove(workspace_ref);
  }
  return await jobs.eraseUser(userId);

  /** Until no other writer was faster. */
  async function forgetRun(agent: string, runId: string): Promise<void> {
    for (;;) {
      const stored = await pluginState.get(agent);
      if (!stored) return;
      const state = sealed.open("state", agent, stored.sealed_state);
      const { [runId]: erased, ...others } = storedRuns(state);
      if (erased === undefined) return;
      const { last_run_id, ...rest } = state;
      const next = {
        ...rest,
        runs: others,
        ...(last_run_id !== runId && last_run_id !== undefined && { last_run_id }),
      };
      if (await pluginState.replace(agent, sealed.seal("state", agent, next), stored.revision)) return;
    }
  }
}
