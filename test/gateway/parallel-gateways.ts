// A gateway in a process of its own that runs what others have queued on the test's database.
import type { Program } from "../another-process.ts";

export type Given = { readonly config: object };

export const run: Program<Given> = async (open, { config }) => {
  await open([], { gateway: { config, onLog: () => undefined } });
  console.log("ready");
};
