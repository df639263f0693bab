// What a worker does at its end, on the database where others go on.
import { expect, it } from "vitest";
import { emptySchema } from "../../test/postgres.ts";
import { postgres } from "../backend/postgres/postgres.ts";
import { createHoldfast } from "../holdfast.ts";

it("ends without a complaint, also while it is looking whether others are alive", async () => {
  const { url, schema, drop } = await emptySchema();
  const told: unknown[] = [];
  const start = () =>
    createHoldfast({
      backend: postgres(url, { schema, connections: 2 }),
      agents: [],
      secretKey: "0d".repeat(32),
      // So short that there is always somebody looking.
      leaseMs: 4,
      onError: (error) => told.push(error),
    });
  const others = await Promise.all(Array.from({ length: 8 }, start));
  for (const _ of Array(10)) await (await start()).close();
  await Promise.all(others.map((other) => other.close()));
  await drop();
  expect(told).toEqual([]);
});
