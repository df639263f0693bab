import { expect, it, onTestFinished } from "vitest";
import { startEffectLedger } from "./effect-ledger.ts";
import { openEffectLedger, recordEffect } from "./ledger-client.ts";

async function newLedger() {
  const ledger = await startEffectLedger();
  onTestFinished(() => ledger.close());
  return { ledger, client: openEffectLedger(ledger.url) };
}

it("counts an effect once, however often it is asked for under its key", async () => {
  const { ledger, client } = await newLedger();

  await client.record({ name: "charge", key: "a", cents: 1200 });
  await recordEffect(ledger.url, { name: "charge", key: "b" });
  expect(await client.record({ name: "charge", key: "a", cents: 1200 })).toMatchObject({ times: 2 });

  expect(ledger.effects()).toEqual([
    { name: "charge", key: "a", cents: 1200, times: 2 },
    { name: "charge", key: "b", times: 1 },
  ]);
  expect(await client.effects()).toEqual(ledger.effects());
});

it("counts an effect without a key every time, and two effects under one key apart", async () => {
  const { ledger, client } = await newLedger();

  for (const name of ["ring", "ring"]) await client.record({ name });
  for (const name of ["charge", "ship"]) await client.record({ name, key: "order/7 ä" });

  expect(ledger.effects().map(({ name, times }) => `${name} ${times}`)).toEqual([
    "ring 1",
    "ring 1",
    "charge 1",
    "ship 1",
  ]);
  expect(await client.count("order/7 ä")).toBe(2);
  expect(await client.count("order/8")).toBe(0);
});

it("lets processes wait for each other's notes, whoever comes first", async () => {
  const { ledger, client } = await newLedger();

  const waited = client.noted("later").then(() => "heard");
  await client.note("before");
  await client.noted("before");
  ledger.note("later");

  expect(await waited).toBe("heard");
  await ledger.noted("before");
});

it("gives up waiting for a note when the signal fires", async () => {
  const { client } = await newLedger();
  await expect(client.noted("never", AbortSignal.abort())).rejects.toThrow();
});

it("refuses what it does not understand, and goes on", async () => {
  const { ledger, client } = await newLedger();

  const broken = await fetch(`${ledger.url}/effects`, { method: "POST", body: '{"name": "char' });
  expect([broken.status, (await fetch(`${ledger.url}/elsewhere`)).status]).toEqual([400, 400]);
  await expect(openEffectLedger(`${ledger.url}/elsewhere`).count("a")).rejects.toThrow(/The ledger refused/);

  await client.record({ name: "charge" });
  expect(ledger.effects()).toHaveLength(1);
});
