// A plugin lives on when its gateway is killed, because it has a process group of its own. Whenever it ends, its answer is
// read by no process: what counts is the execution that the next gateway begins, and the lost one is in the log.
import { rowsWith } from "../survives-a-crash/database.ts";
import { heldProcess, isAlive, lateEnd, release } from "./held-processes.ts";
import { checkStage } from "./run-cases.ts";
import { heldPlugin } from "./scenarios/held-plugin.ts";
import { openStage, PATIENCE_MS, type Site, type Stage } from "./site.ts";

export const lateEnds = ["before the next gateway starts", "while it is executed again", "after the commit"] as const;

export type LateEnd = (typeof lateEnds)[number];

/** A sentence for everything that is not as it must be. */
export async function endsLate(site: Site, when: LateEnd): Promise<readonly string[]> {
  const stage = await openStage(site, heldPlugin);
  try {
    return await play(site, stage, when);
  } catch (error) {
    return [String(error)];
  } finally {
    await stage.clear();
  }
}

async function play(site: Site, stage: Stage, when: LateEnd): Promise<readonly string[]> {
  const problems: string[] = [];
  const first = stage.start({});
  const orphan = await heldProcess(stage, 1);
  first.signal("SIGKILL");
  await first.ended(PATIENCE_MS);
  if (!isAlive(orphan.pid)) problems.push("the plugin has ended with its gateway, so that nothing is tried here");
  const endNow = async () => {
    release(site, stage, orphan);
    await lateEnd(site, stage, orphan);
  };
  if (when === "before the next gateway starts") await endNow();
  const second = stage.start({});
  const successor = await heldProcess(stage, 2);
  if (when === "while it is executed again") {
    await endNow();
    const [job] = await rowsWith(stage.database, "gateway_jobs", { plugin: "held" });
    if (job?.status !== "running" || Number(job.attempt) !== 2) {
      problems.push(`the job is ${job?.status} at attempt ${job?.attempt} after the late end of its first execution`);
    }
  }
  release(site, stage, successor);
  problems.push(...(await second.ended(PATIENCE_MS)).problems);
  if (when === "after the commit") await endNow();
  problems.push(...(await checkStage(stage, heldPlugin, site, 1)));
  return problems;
}
