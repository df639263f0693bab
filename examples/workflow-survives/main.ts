// A workflow that outlives its process: it books, asks an agent, and waits for a person. The runtime is closed while it waits, and
// another one goes on where it stood.
import { agent, askAgent, createHoldfast, foreach, run, waitForApproval, workflow } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { says, scriptedModel } from "holdfast/testing";
import { z } from "zod";

// What the hotel has in its books, by the key of the step that booked it.
const bookings = new Map<string, string>();

const trip = workflow("trip", { inputs: z.object({ guest: z.string(), nights: z.array(z.string()) }) })
  .step("rooms", ({ inputs }) =>
    foreach(
      inputs.nights,
      (each) => each.step("book", ({ item }) => run(book, item), { undo: ({ output }) => run(cancel, output.booking) }),
      { concurrency: 2 },
    ),
  )
  .step("letter", ({ inputs }) => askAgent("writer", `Write to ${inputs.guest}.`))
  .step("agreed", ({ inputs, steps }) =>
    waitForApproval(`Send "${steps.letter.reply}" to ${inputs.guest}?`, { timeout: "7d" }),
  )
  .step("sent", ({ steps }) =>
    run(({ reply, by }) => `${by} agreed: ${reply}`, { reply: steps.letter.reply, by: steps.agreed.by }),
  );

function book(night: string, { idempotencyKey }: { idempotencyKey: string }) {
  bookings.set(idempotencyKey, night); // twice under one key is once
  return { booking: idempotencyKey };
}

function cancel(booking: string) {
  bookings.delete(booking);
  return {};
}

const writer = agent({
  slug: "writer",
  instructions: "You write short letters.",
  model: scriptedModel([says("Your rooms are waiting.")]),
});
const open = () => createHoldfast({ backend: sqlite("trip.db"), agents: [writer], workflows: [trip] });

const first = await open();
const started = await first.workflows.start(trip, { guest: "Ana", nights: ["Friday", "Saturday"] }, { key: "trip-42" });
for await (const { type, step } of started.follow()) {
  if (type === "step.ended") console.log(`ended: ${step}`);
  if (type === "step.waiting") break;
}
console.log(`booked: ${[...bookings.values()].join(", ")}`);
await first.close(); // or kill it: nothing is lost

const second = await open();
const { id, outcome } = await second.workflows.start(
  trip,
  { guest: "Ana", nights: ["Friday", "Saturday"] },
  { key: "trip-42" },
);
console.log(`the same start again is ${outcome}: the run is the same`);
const [request] = await second.requests.list({ thread: id, status: "pending" });
console.log(`asked: ${request?.shown.summary}`);
await second.requests.submit(request?.id ?? "", { decision: "accepted", by: "Ben" });

const record = await (await second.workflows.run(id)).result();
console.log(`${record.status}: ${JSON.stringify(record.output, ["last", "value"])}`);
await second.close();
