// Runtimes of tests check after every commit that the records lead to what is stored.
import { expect, it, onTestFinished } from "vitest";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { agent, createHoldfast } from "../src/index.ts";
import { withDriver } from "./changed-driver.ts";
import { heldModel } from "./held.ts";

it("tells nobody of a commit before it was verified: whoever knows of it may change what is stored", async () => {
  const order: string[] = [];
  let isAnswered = false;
  const { promise: mayRead, resolve: read } = Promise.withResolvers<void>();
  const { promise: verifying, resolve: verifies } = Promise.withResolvers<void>();
  const backend = withDriver(sqlite(":memory:"), ({ all }) => ({
    async all(sql, params) {
      if (isAnswered && sql.includes("from events")) {
        verifies();
        await mayRead;
        order.push("verified");
      }
      return await all(sql, params);
    },
  }));
  const { model, next } = heldModel();
  const clerk = agent({ slug: "clerk", instructions: "You help.", model });
  const holdfast = await createHoldfast({ backend, agents: [clerk], verifies: true, drainsOnSignal: false });
  onTestFinished(() => holdfast.close());
  const thread = await holdfast.threads.open("t", { agent: "clerk" });
  const sent = thread.send("Hello", { key: "m" }).then(() => order.push("sent"));
  const asked = await next();
  isAnswered = true;
  asked.answer("Good day.");
  await verifying;
  // Long enough for everything that does not wait for it.
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  read();
  await sent;
  expect([...new Set(order)]).toEqual(["verified", "sent"]);
});
