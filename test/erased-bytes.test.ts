// Promise: what is erased is not to be found in the database file either, however long it was: SQLite would leave it in the
// places that it has freed.
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { memoryScope } from "../src/memory/scope-of-layer.ts";
import { callsTool, says, scriptedModel } from "../src/models/scripted/scripted-model.ts";
import { agent } from "../src/threads/agent.ts";
import { tool } from "../src/threads/tool.ts";
import { sqliteWorld, type World } from "./databases.ts";

const SECRET = "swordfish";

/** Fits into a page of the database, and needs several of its own. */
const lengths = { short: SECRET, long: `${SECRET} `.repeat(4_000) };

/** Whether the secret stands anywhere in the database's files. */
async function isWritten({ address, sql }: World): Promise<boolean> {
  await sql("pragma busy_timeout = 0");
  // Refused for as long as somebody looks at the file, which here is always for a turn of the event loop.
  while ((await sql("pragma wal_checkpoint(truncate)"))[0]?.busy !== 0);
  const path = "path" in address ? address.path : "";
  const files = [path, `${path}-wal`].filter((file) => existsSync(file));
  return files.some((file) => readFileSync(file, "latin1").includes(SECRET));
}

it.each(Object.entries(lengths))("leaves no byte of a %s message that was erased", async (_, words) => {
  const world = await sqliteWorld();
  const look = tool({ name: "shop/look", description: "Looks.", execute: () => words });
  const model = scriptedModel([callsTool("shop/look", { words }), says(`I heard ${words}.`)]);
  const { threads } = await world.open(agent({ slug: "shop", model, tools: [look] }));
  const thread = await threads.open("t", { agent: "shop" });
  await thread.send(`The word is ${words}.`);
  await thread.editMessage(0, `The word is ${words}, I said.`);
  await thread.wait();
  expect(await isWritten(world)).toBe(true);

  await thread.eraseMessages({ all: true });
  await thread.wait();

  expect(await isWritten(world)).toBe(false);
});

it.each(Object.entries(lengths))("leaves no byte of a %s message whose thread was deleted", async (_, words) => {
  const world = await sqliteWorld();
  const { threads } = await world.open(agent({ slug: "shop", model: () => says(`I heard ${words}.`) }));
  const thread = await threads.open("t", { agent: "shop" });
  await thread.send(`The word is ${words}.`);
  expect(await isWritten(world)).toBe(true);

  await threads.delete(thread.id);

  expect(await isWritten(world)).toBe(false);
});

it.each(Object.entries(lengths))("leaves no byte of a %s memory that was forgotten", async (_, words) => {
  const world = await sqliteWorld();
  const { memories } = await world.open(agent({ slug: "shop", model: () => says("Hello.") }));
  await memories.write(memoryScope("user", "word", { user_id: 7 }), `The word is ${words}.`);
  for (const user_id of [8, 9]) await memories.write(memoryScope("user", "word", { user_id }), "There is no word.");
  expect(await isWritten(world)).toBe(true);

  await memories.forgetAll({ user_id: 7 });

  expect(await isWritten(world)).toBe(false);
});
