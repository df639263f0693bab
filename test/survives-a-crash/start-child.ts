// Starts a process of a matrix. It has no reason to write to its error output: what stands there is a problem.
import { type Child, startChild as start } from "../../src/testing/start-child.ts";
import type { Order } from "./order.ts";

const program = new URL("child.ts", import.meta.url);

/** A process that plays scenarios of threads. */
export function startChild(order: Order): Child {
  return startProgram(program, order);
}

/** Any program that tells what it does as those do. */
export function startProgram(file: URL, order: object): Child {
  const child = start(file, order);
  return {
    ...child,
    async ended(patienceMs) {
      const ended = await child.ended(patienceMs);
      return ended.noise === "" ? ended : { ...ended, problems: [...ended.problems, ended.noise] };
    },
  };
}
