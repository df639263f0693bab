// A plugin that is a process of its own and runs until it is released, then a plugin that counts what came of it. Played by
// what kills or stops the gateway meanwhile.
import { fileURLToPath } from "node:url";
import { different } from "../check-run.ts";
import type { GatewayScenario } from "../scenario.ts";
import { checkEffects, counting, quickRetries } from "./order-pipeline.ts";

export const heldPlugin: GatewayScenario = {
  name: "held plugin",
  config: ({ ledger, name }) => ({
    plugin_roots: [fileURLToPath(new URL("../plugins", import.meta.url))],
    plugins: {
      held: {
        retry: { backoff_base: "1ms" },
        // It ends when it is told to, however long that takes on a busy machine.
        timeouts: { handle: "1h" },
        config: { ledger: ledger.url, case: name },
      },
      ...quickRetries("tally"),
    },
    pipelines: [
      {
        name: "work",
        on: "work.asked",
        steps: [
          { id: "held", uses: "held" },
          { id: "tally", uses: "tally" },
        ],
      },
    ],
  }),
  plugins: (world) => [counting(world, "tally", () => ({}))],
  async play(gateway) {
    await gateway.emit({ type: "work.asked", payload: {}, dedupe_key: "work" }, { via: "api" });
  },
  isInOrder: true,
  async check(ended) {
    const { reading, crashes } = ended;
    const jobs = await reading.rows("select id, plugin, status, attempt from gateway_jobs order by seq");
    const attempts = await reading.stores.jobs.attempts(String(jobs[0]?.id));
    return [
      ...different(
        "the queue",
        jobs.map(({ plugin, status, attempt }) => `${plugin} ${status} at attempt ${attempt}`),
        [`held succeeded at attempt ${1 + crashes}`, "tally succeeded at attempt 1"],
      ),
      ...different(
        "the log of the held plugin",
        attempts.map(({ outcome }) => outcome),
        [...Array.from({ length: crashes }, () => "orphaned"), "succeeded"],
      ),
      ...(await checkEffects(ended, { held: 1, tally: 1 })),
    ];
  },
};
