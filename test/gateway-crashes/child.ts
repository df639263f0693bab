// A process with a gateway that plays a scenario and is killed or stopped where it is told to.
import { setTimeout as sleep } from "node:timers/promises";
import type { PluginRequest } from "../../src/contracts/gateway/protocol/request.ts";
import type { Planner } from "../../src/gateway/agent/planner/planner.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import { createHoldfast } from "../../src/holdfast.ts";
import { meetFate } from "../../src/testing/crash-points.ts";
import { openEffectLedger } from "../../src/testing/ledger-client.ts";
import { tell } from "../../src/testing/told.ts";
import { backendOf, LEASE_MS, SECRET_KEY } from "../survives-a-crash/database.ts";
import type { GatewayOrder } from "./order.ts";
import type { World } from "./scenario.ts";
import { scenarioNamed } from "./scenarios.ts";
import { addWorkspacePoints } from "./workspace-points.ts";

const order = JSON.parse(process.argv[2] ?? "{}") as GatewayOrder;
const { name, page, database, workspaces } = order;
const reached = meetFate(order);

function fail(error: unknown): void {
  tell({ kind: "error", text: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

const ledger = openEffectLedger(order.ledger);
const world: World = {
  ...{ ledger, reached, page, name },
  async executed(step: string, { job_id }: PluginRequest) {
    await ledger.record({ name: "execution", case: name, step, job_id });
    await reached(`inside plugin ${step}`);
  },
};
const scenario = scenarioNamed(order.scenario);
addWorkspacePoints(workspaces, reached);

await reached("before open");
const planner = scenario.planner?.(world);
const holdfast = await createHoldfast({
  backend: backendOf(database),
  agents: [],
  gateway: {
    config: scenario.config(world),
    ...(planner && { planner: withPoints(planner) }),
    plugins: scenario.plugins?.(world) ?? [],
    workspaceRoot: workspaces,
    // What plugins log is not what this is about.
    onLog: () => undefined,
  },
  secretKey: SECRET_KEY,
  leaseMs: LEASE_MS,
  drainMs: 2_000,
  onPoint: reached,
  onError: fail,
});
tell({ kind: "ready" });

// The process that started us is gone, or wants us to come to an end.
const asked = new Promise<void>((resolve) => process.stdin.resume().once("end", resolve));

try {
  await Promise.race([play(), asked.then(() => Promise.reject(new Error("The scenario did not come to its end.")))]);
} catch (error) {
  fail(error);
}
await holdfast.close();
tell({ kind: "done" });
process.exit(0);

async function play(): Promise<void> {
  const { gateway } = holdfast;
  if (!gateway) throw new Error("There is no gateway.");
  await reached("before play");
  await scenario.play(gateway);
  await untilIdle(gateway);
}

/** Every job has ended. A job and what it leads to are one commit, so that there is no moment between them. */
async function untilIdle(gateway: Gateway): Promise<void> {
  for (;;) {
    const { jobs } = await gateway.status();
    if ((jobs.queued ?? 0) + (jobs.running ?? 0) === 0) return;
    await sleep(25);
  }
}

/** In the middle of a turn. */
function withPoints({ frame, plan, reflect }: Planner): Planner {
  return {
    async frame(input, options) {
      await reached("inside planner frame");
      return await frame(input, options);
    },
    async plan(input, options) {
      await reached("inside planner plan");
      return await plan(input, options);
    },
    async reflect(input, options) {
      await reached("inside planner reflect");
      return await reflect(input, options);
    },
  };
}
