// What the recorder or the run store of a host has thrown. It is no fault of a step, so it ends the run and goes on to whoever
// asked for it.
import { quietly } from "../../contracts/when-ready.ts";
import type { WorkflowHost } from "./workflow-host.ts";

export class HostFault extends Error {}

/** What the host answers; what it throws is a `HostFault` with that as its cause. */
export async function ofHost<Value>(ask: () => Value): Promise<Awaited<Value>> {
  try {
    return await ask();
  } catch (cause) {
    throw new HostFault("The host has failed.", { cause });
  }
}

/** What the work returns. When it throws, run control says that the run has failed, and the caller gets what was thrown. */
export async function orFailed<Value>(
  runId: string,
  { runs }: WorkflowHost,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (thrown) {
    // What this throws in its turn tells less than what came first.
    await quietly(() => runs?.finish(runId, "failed"));
    throw thrown instanceof HostFault ? thrown.cause : thrown;
  }
}
