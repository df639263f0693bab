// Calls of a workflow registry and of what keeps its schedule, with what is told of them.
import { createHooks, type Hooks } from "../../src/contracts/hooks.ts";
import { isOperationError } from "../../src/contracts/operation-error.ts";
import { contractNames } from "../../src/contracts/seams.ts";
import { deleted, disabled, enabled, saved } from "../../src/contracts/workflows/lifecycle.ts";
import { createMemoryWorkflows, describe, type Workflows } from "../../src/contracts/workflows/registry.ts";
import type { ScheduleHost, WorkflowScheduler } from "../../src/contracts/workflows/schedule.ts";
import { normalize, type WorkflowSpec } from "../../src/contracts/workflows/spec.ts";

type RegistryCall = {
  do: "register" | "unregister" | "get" | "list" | "describe";
  with?: { spec?: unknown; workflow_id?: string };
};

export async function runRegistry({ calls }: { calls: readonly RegistryCall[] }) {
  const hooks = createHooks();
  const told: unknown[] = [];
  hooks.on("workflowRegistered", ({ id }) => told.push({ event: "wp_agent_workflow_registered", args: [{ id }] }));
  const workflows = createMemoryWorkflows({ hooks });
  const taken: unknown[] = [];
  for (const call of calls) {
    const result = await callRegistry(workflows, call);
    taken.push({ result: isOperationError(result) ? { error: result } : result, events: told.splice(0) });
  }
  return taken;
}

async function callRegistry(workflows: Workflows, { do: action, with: { spec, workflow_id = "" } = {} }: RegistryCall) {
  switch (action) {
    case "register": {
      const registered = await workflows.register(spec);
      return isOperationError(registered) ? registered : { id: registered.id, version: registered.version };
    }
    case "unregister":
      return workflows.unregister(workflow_id);
    case "get":
      return workflows.find(workflow_id)?.id ?? null;
    case "list":
      return workflows.all().map(({ id }) => id);
    case "describe":
      return describe(workflow_id, workflows);
  }
}

type ScheduleCall = {
  do: "register" | "saved" | "deleted" | "disabled" | "enabled";
  with: { spec?: unknown; workflow_id?: string };
};

export async function runSchedule({ calls }: { calls: readonly ScheduleCall[] }) {
  const hooks = createHooks();
  const events = logNames(hooks);
  const { scheduler, log } = loggingScheduler();
  const host = { hooks, scheduler };
  const taken: unknown[] = [];
  for (const call of calls) {
    const result = await follow(call, host);
    taken.push({ result, scheduler: log.splice(0), events: events.splice(0) });
  }
  return taken;
}

async function follow({ do: action, with: { spec, workflow_id = "" } }: ScheduleCall, host: ScheduleHost) {
  if (action === "register") return !isOperationError(await createMemoryWorkflows(host).register(spec));
  if (action === "deleted") await deleted(workflow_id, null, host);
  else await { saved, disabled, enabled }[action](normalize(spec) as WorkflowSpec, host);
  return null;
}

const logged = [
  "workflowScheduleRequested",
  "workflowRegistered",
  "workflowSaved",
  "workflowEnabled",
  "workflowDisabled",
  "workflowDeleted",
] as const;

function logNames(hooks: Hooks): string[] {
  const names: string[] = [];
  for (const event of logged) hooks.on(event, () => names.push(contractNames[event]));
  return names;
}

/** The same calls as a queue of jobs is asked them. */
function loggingScheduler() {
  const log: object[] = [];
  const job = "wp_agent_workflow_run_scheduled";
  const about = (workflow_id: string) => ({ args: { workflow_id }, group: "agents-api" });
  const scheduler: WorkflowScheduler = {
    unschedule: (id) => void log.push({ unschedule_all: job, ...about(id) }),
    cron: (id, expression) => void log.push({ schedule: "cron", expression, hook: job, ...about(id) }),
    every: (id, interval) => void log.push({ schedule: "recurring", interval, hook: job, ...about(id) }),
  };
  return { scheduler, log };
}
