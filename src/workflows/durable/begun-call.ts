// The entry of the ledger that says that a step begins: committed before it does.
import type { CallChange } from "../../backend/thread-commit.ts";
import { trimmed } from "../../contracts/coerce.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { Order } from "../machine/next.ts";
import { certainAfter } from "./certain-after.ts";
import type { LeasedRun } from "./leased-run.ts";
import type { RunHost } from "./run-host.ts";
import { stepKey } from "./step-key.ts";
import { storableName } from "./storable-name.ts";

export function begunCall(host: RunHost, run: LeasedRun, { path, step }: Order, number: number): CallChange {
  const key = stepKey(run.id, run.attempt, path);
  return {
    ...{ change: "begun", number, tool_call_id: path, tool_name: storableName(nameOfWork(step)), idempotency_key: key },
    arguments_hmac: host.threads.sealing.bind(step, key),
    certain_after: certainAfter(host, step) * 1_000,
  };
}

/** What a step does, in a word. */
function nameOfWork({ type, ability, function: work }: JsonMap): string {
  return trimmed(ability) ?? trimmed(work) ?? String(type ?? "");
}
