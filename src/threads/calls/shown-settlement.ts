// What an operator has found out about a call, as it is stored: its secrets are no more for everybody than the tool's own.
import type { StoredCall, Thread } from "../../backend/thread-rows.ts";
import { isMap, type Json, type JsonMap, snapshot } from "../../contracts/json.ts";
import type { Host } from "../host.ts";
import { toolNamed } from "../requests/terms.ts";
import { hideSecrets } from "../secrets/hide-secrets.ts";
import { installationSecrets } from "../secrets/installation-secrets.ts";
import { createKnownSecrets } from "../secrets/known-secrets.ts";

/** `found`: the result alone, or in the form of one. What the call was made with is erased, and not known any more. */
export function shownSettlement(
  host: Host,
  { thread, call }: { readonly thread: Thread; readonly call: StoredCall },
  found: unknown,
): Json {
  const given = snapshot(found);
  const tool = toolNamed(host, host.agents.get(thread.agent), call.tool_name);
  const secrets = createKnownSecrets(installationSecrets(host));
  if (!isMap(given) || !("result" in given)) return hideSecrets(given, secrets, tool?.secretOutput);
  const { result, ...rest } = given as JsonMap;
  const shown = hideSecrets(result ?? null, secrets, tool?.secretOutput);
  return { ...(hideSecrets(rest, secrets) as JsonMap), result: shown };
}
