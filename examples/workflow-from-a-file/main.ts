// A workflow in a YAML file, with the functions that it names in the program. It waits for an event, and undoes what it did when a
// step behind fails.
import { fileURLToPath } from "node:url";
import { createHoldfast, readWorkflowFile } from "holdfast";
import { sqlite } from "holdfast/sqlite";

const loaded = readWorkflowFile(fileURLToPath(new URL("order.workflow.yaml", import.meta.url)));
if ("problems" in loaded) throw new Error(loaded.problems.map(({ message }) => message).join("\n"));

const shelf: string[] = [];
const holdfast = await createHoldfast({
  backend: sqlite(":memory:"),
  agents: [],
  workflows: [loaded.spec.raw],
  stepFunctions: {
    reserve: (input) => void shelf.push(JSON.stringify(input)),
    release: () => void shelf.pop(),
    ship: (order) => ({ shipped: order }),
    refuse: () => {
      throw new Error("That is not enough.");
    },
  },
});

for (const [order, cents] of [
  ["7", 1_200],
  ["8", 5],
] as const) {
  const run = await holdfast.workflows.start("order", { order });
  await run.send("payment", { order, cents }, { key: `payment of ${order}` }); // also before the run waits for it
  const { status, output, error, metadata } = await run.result();
  console.log(`order ${order}: ${status}`, JSON.stringify(status === "succeeded" ? output : error));
  console.log(`  reserved: ${shelf.join(" ")}; undone: ${JSON.stringify(metadata, ["_rollback", "id", "status"])}`);
}
await holdfast.close();
