// Events, pipelines and plugins, without an agent: orders come in, all are booked, and large ones are reviewed.
import { fileURLToPath } from "node:url";
import { createHoldfast, gatewayPlugin } from "holdfast";
import { sqlite } from "holdfast/sqlite";

const books = gatewayPlugin({
  name: "books",
  commands: {
    handle: {
      description: "Books an order.",
      run({ event, state }) {
        const { order, cents } = event?.payload ?? {};
        // Trying again would not help: the job fails at its first attempt.
        if (!Number(cents)) throw Object.assign(new Error(`order ${order} has no price`), { retry: false });
        const total = Number(state.total ?? 0) + Number(cents);
        return { result: `${total} cents today`, state_updates: { total } };
      },
    },
  },
});

const desk = gatewayPlugin({
  name: "desk",
  commands: {
    handle: {
      run({ event }) {
        console.log(`desk: ${event?.payload.text}`);
        return "shown";
      },
    },
  },
});

const holdfast = await createHoldfast({
  backend: sqlite(":memory:"),
  agents: [],
  gateway: {
    config: fileURLToPath(new URL("gateway.yaml", import.meta.url)),
    plugins: [books, desk],
    onLog: () => undefined,
  },
});
const { gateway } = holdfast;
if (!gateway) throw new Error("The gateway was not configured.");

async function receive(payload: { order: number; cents: number }): Promise<void> {
  const done = await gateway?.runPipeline("orders", { payload }, { via: "shop" });
  if (done?.outcome !== "ended") return;
  console.log(`order ${payload.order}: ${done.status}`);
  for (const { plugin, status, place } of done.tree) console.log(`  ${status} ${plugin} (${place?.step_id})`);
}

await receive({ order: 7, cents: 1_200 });
await receive({ order: 8, cents: 60_000 });
await receive({ order: 9, cents: 0 });

const event = { type: "order.received", payload: { order: 10, cents: 900 }, dedupe_key: "order-10" };
const first = await gateway.emit(event, { via: "shop" });
const second = await gateway.emit(event, { via: "shop" });
console.log(`emitted twice: ${first.job_ids.length} job, then ${second.job_ids.length}`);

await holdfast.close();
