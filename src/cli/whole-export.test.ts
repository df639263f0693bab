import { expect, it } from "vitest";
import { deskWorld } from "../../test/desk-world.ts";
import { says, scriptedModel } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import type { Client } from "./client.ts";
import { wholeExport } from "./whole-export.ts";

it("puts the parts of an export together again", async () => {
  const model = scriptedModel(["One.", "Two."].map((words) => says(words)));
  const world = await deskWorld({ agents: [agent({ slug: "shop", model })] });
  await world.grant("shop", 7);
  const ann = world.as(7);
  const { id: thread_id } = await ann("holdfast/open-thread", { agent: "shop" });
  for (const content of ["1", "2"]) await ann("holdfast/send-message", { thread_id, content, wait: true });
  let parts = 0;
  const call = async (name: string, input = {}) => {
    parts += 1;
    return await ann(name, { ...input, limit: 1 });
  };
  const whole = await ann("holdfast/export-thread", { thread_id });
  const told: (readonly number[])[] = [];
  const onProgress = (...counts: readonly number[]) => told.push(counts);
  expect(await wholeExport({ call: call as Client["call"] }, thread_id, onProgress)).toEqual(whole);
  const events = whole.events.length;
  expect(parts).toBe(events);
  expect(told).toEqual(Array.from({ length: events - 1 }, (_, index) => [index + 1, events]));
});
