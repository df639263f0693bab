// The contestants, by the name under which a worker process is told which one it is.
import { columns } from "./columns.ts";
import type { Engine } from "./engine.ts";
import { graphileDoorbell } from "./graphile-doorbell.ts";
import { graphileQueue } from "./graphile-queue.ts";
import { pgBoss } from "./pg-boss.ts";

export const engines: readonly Engine[] = [
  graphileQueue,
  graphileDoorbell({ mode: "unsafe_dedupe" }),
  graphileDoorbell({ mode: "replace" }),
  graphileDoorbell({ mode: "replace", hasQueue: true }),
  graphileDoorbell({ mode: "replace", hasQueue: true, asksAgain: true }),
  pgBoss,
  columns("step"),
  columns("activation"),
];

export function engineNamed(name: string | undefined): Engine {
  const found = engines.find((engine) => engine.name === name);
  if (!found) throw new Error(`There is no contestant "${name}".`);
  return found;
}
