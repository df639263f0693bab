// Calls of which nobody could tell what they did, for operators who found out.
import { holdfastError } from "../../contracts/error.ts";
import { checkName, checkNumber } from "../check-arguments.ts";
import type { Host } from "../host.ts";
import { createEntry } from "../new-entry.ts";
import type { Runtime } from "../runtime.ts";
import { shownSettlement } from "./shown-settlement.ts";

export function createCalls(host: Host): Runtime["calls"] {
  const { stores, onCrashPoint } = host;
  const { threads } = stores;
  return {
    async unknown({ limit = 100 } = {}) {
      checkNumber("limit", limit);
      return await threads.unknownCalls(limit);
    },
    async settle({ thread_id, run, number }, result, { principal } = {}) {
      checkName("thread_id", thread_id);
      checkNumber("run", run);
      checkNumber("number", number);
      const call = await threads.call(thread_id, run, number);
      const thread = await threads.get(thread_id);
      if (!thread || call?.phase !== "unknown") {
        throw holdfastError("call_not_unknown", `Call ${number} of run ${run} is not of unknown outcome.`);
      }
      const found = shownSettlement(host, { thread, call }, result);
      const entry = createEntry.settlement(run, number, found, { key: `${run}:${number}`, principal });
      await onCrashPoint(`before put ${entry.kind}`);
      const { outcome } = await stores.inbox.put(thread_id, entry);
      await onCrashPoint(`after put ${entry.kind}`);
      if (outcome === "stored" || outcome === "repeated") return;
      throw holdfastError(
        "call_not_unknown",
        `Call ${number} of run ${run} was settled before, or its thread is over.`,
      );
    },
  };
}
