// A process that works for one contestant until it is told to stop, or killed. It says when it is ready and what begins.
import { engineNamed } from "./engines.ts";
import { stepRunner } from "./step.ts";

const [name, url, longestMs] = process.argv.slice(2);

/** What the process tells the experiment. */
export type Report = { readonly kind: "ready" } | { readonly kind: "begun"; readonly thread: number };

const tell = (report: Report) => process.send?.(report);
const longest = Number(longestMs);

const work = await engineNamed(name).work(
  url ?? "",
  stepRunner({
    worker: process.pid,
    workMs: () => (longest === Number.POSITIVE_INFINITY ? 2 ** 31 - 1 : Math.random() * longest),
    // Only who waits to be killed needs to say it: a message for every step would be measured along.
    onBegin: (thread) => {
      if (longest === Number.POSITIVE_INFINITY) tell({ kind: "begun", thread });
    },
  }),
);
process.once("message", async () => {
  await work.stop();
  process.exit();
});
process.once("disconnect", () => process.exit()); // Whoever measures us is gone.
tell({ kind: "ready" });
