// What happens by the clock beside schedules: each part of a tick has its turn, whatever becomes of the others.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { heldClock } from "../../src/testing/held-clock.ts";
import { eventually } from "../eventually.ts";
import { api, newFolder, openGateway, plugin } from "../gateway/gateway-world.ts";

const HOUR = 3_600_000;

it("an agent whose state cannot be read is reported, keeps no other agent's runs waiting, and nothing from being pruned", async () => {
  const clock = heldClock();
  const path = join(newFolder(), "holdfast.db");
  const updated_at = new Date(clock.now()).toISOString();
  const run = { status: "running", goal: "Wait.", step: 1, pending_step: 1, pending_tool: "lost", updated_at };
  const agent = (name: string) =>
    plugin(name, () => ({ state_updates: { runs: { [name]: run } } }), { commands: ["handle", "poll"] });
  const config = { plugins: { one: { agent: true }, two: { agent: true } } };
  const before = await openGateway({ plugins: [agent("one"), agent("two")], config, clock, path });
  for (const name of ["one", "two"]) await before.gateway.runs.start({ goal: "Wait.", agent: name }, api);
  await before.untilIdle();
  await before.holdfast.close();
  const database = new DatabaseSync(path);
  database.exec("update gateway_plugin_state set sealed_state = 'unreadable' where plugin = 'one'");
  database.close();

  const errors: unknown[] = [];
  const options = { onError: (error: unknown) => void errors.push(error) };
  const two = agent("two");
  const { gateway, untilIdle } = await openGateway({ plugins: [agent("one"), two], config, clock, path, options });
  await clock.advance(HOUR);
  await eventually(() => expect(two.requests.map(({ command }) => command)).toContain("poll"));
  await untilIdle();
  await clock.advance(30 * HOUR);
  await untilIdle();
  expect((await gateway.jobs.list({ limit: 9 })).filter(({ command }) => command === "handle")).toEqual([]);
  expect(errors[0]).toMatchObject({ message: expect.stringContaining("The runs of the agent one were not looked at") });
});
