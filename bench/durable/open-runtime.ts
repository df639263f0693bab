// A runtime for the benchmark: as a user has it, except that whatever goes wrong ends the process.
import type { Backend } from "../../src/backend/sql-driver.ts";
import { type Agent, createHoldfast, type Holdfast, type HoldfastOptions } from "../../src/index.ts";

/** On PostgreSQL there is no place where a key could be kept, and all processes need the same. */
const secretKey = "be2c4".padEnd(64, "0");

export function openRuntime(
  backend: Backend,
  agents: readonly Agent[],
  options: Partial<HoldfastOptions> = {},
): Promise<Holdfast> {
  const onError = (error: unknown) =>
    queueMicrotask(() => {
      throw error;
    });
  return createHoldfast({ backend, agents, secretKey, drainsOnSignal: false, onError, ...options });
}
