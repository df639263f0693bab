// A gateway that is stopped past its lease while it runs a job, such as a machine that was suspended. Another gateway takes the
// job over; what the first one does when it goes on must have no effect. Only where processes share a database.
import { rowsWith } from "../survives-a-crash/database.ts";
import { within } from "../survives-a-crash/within.ts";
import { heldProcess, killed, release } from "./held-processes.ts";
import { checkStage } from "./run-cases.ts";
import { heldPlugin } from "./scenarios/held-plugin.ts";
import { openStage, PATIENCE_MS, type Site, type Stage } from "./site.ts";

/** In the middle of the plugin: its process group is killed as soon as the gateway goes on. */
export async function lostWhileRunning(site: Site): Promise<readonly string[]> {
  return await onStage(site, async (stage) => {
    const first = stage.start({});
    const orphan = await heldProcess(stage, 1);
    first.signal("SIGSTOP");
    const second = stage.start({});
    const successor = await heldProcess(stage, 2);
    first.signal("SIGCONT");
    await killed(orphan);
    release(site, stage, successor);
    const ended = [await second.ended(PATIENCE_MS), await first.ended(PATIENCE_MS)];
    const points = ended[1]?.points ?? [];
    const next = points[points.indexOf("after effect plugin #1") + 1];
    return [
      ...ended.flatMap(({ problems }) => problems),
      ...(next === "before commit job #1" ? ["a job was committed whose lease was lost"] : []),
      ...(await checkStage(stage, heldPlugin, site, 1)),
    ];
  });
}

const LATE = "The scenario did not come to its end.";

/** With the answer in its hands, while its successor runs the plugin: only the lease tells their commits apart. */
export async function lostBeforeCommit(site: Site): Promise<readonly string[]> {
  return await onStage(site, async (stage) => {
    const first = stage.start({ at: "before commit job #1", fate: "paused" });
    release(site, stage, await heldProcess(stage, 1));
    await within(PATIENCE_MS, first.heard("paused"), "The gateway never came to its commit.");
    const second = stage.start({});
    const successor = await heldProcess(stage, 2);
    first.signal("SIGCONT");
    // It ends only once its commit was answered.
    first.finish();
    const { problems } = await first.ended(PATIENCE_MS);
    const [job] = await rowsWith(stage.database, "gateway_jobs", { plugin: "held" });
    release(site, stage, successor);
    return [
      ...problems.filter((problem) => !problem.includes(LATE)),
      ...(job?.status === "running" ? [] : [`the job is ${job?.status} by a gateway that had lost its lease`]),
      ...(await second.ended(PATIENCE_MS)).problems,
      ...(await checkStage(stage, heldPlugin, site, 1)),
    ];
  });
}

async function onStage(site: Site, play: (stage: Stage) => Promise<readonly string[]>): Promise<readonly string[]> {
  const stage = await openStage(site, heldPlugin);
  try {
    return await play(stage);
  } catch (error) {
    return [String(error)];
  } finally {
    await stage.clear();
  }
}
