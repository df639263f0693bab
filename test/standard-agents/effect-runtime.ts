// A runtime that schedules an effect and is killed: at once, or by the effect itself.
import { effect } from "../../src/threads/definitions/effect.ts";
import type { Program } from "../another-process.ts";
import { helperOf } from "./open-agents.ts";

export type Given = { readonly key: string; readonly delayMs: number; readonly dies: "at once" | "in the effect" };

export const run: Program<Given> = async (open, { key, delayMs, dies }) => {
  const die = () => process.kill(process.pid, "SIGKILL");
  const remind = effect({ name: "remind", description: "Reminds.", handler: die });
  const { threads } = await open([helperOf({ model: () => "Hi." })], { effects: [remind] });
  const state = await (await threads.open(key, { agent: "helper" })).state();
  await state.scheduleEffect("remind", { of: "tea" }, delayMs);
  if (dies === "at once") die();
};
