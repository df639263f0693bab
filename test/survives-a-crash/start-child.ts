// Starts a process of the matrix. It has no reason to write to its error output: what stands there is a problem.
import { type Child, startChild as start } from "../../src/testing/start-child.ts";
import type { Order } from "./order.ts";

const program = new URL("child.ts", import.meta.url);

export function startChild(order: Order): Child {
  const child = start(program, order);
  return {
    ...child,
    async ended(patienceMs) {
      const ended = await child.ended(patienceMs);
      return ended.noise === "" ? ended : { ...ended, problems: [...ended.problems, ended.noise] };
    },
  };
}
