// A child that waits to be created until somebody has set the variables it needs: kept as a request of its parent.
import type { StoredRequest } from "../../backend/request-store.ts";
import type { Write } from "../../backend/write.ts";
import { type JsonMap, snapshotMap } from "../../contracts/json.ts";
import type { Host } from "../host.ts";
import type { ChildOrder, Parent } from "./child-order.ts";
import type { Requirement } from "./required-variables.ts";

/** What everybody may see of it: names, and no value. */
export type DeferredShown = {
  readonly agent_name: string;
  readonly registry_agent_name: string;
  readonly required: readonly string[];
  readonly missing: readonly string[];
};

/** No call waits for it. */
const NO_CALL = -1;

const MOST_PENDING = 1_000;

/** The request that stands for the child. Everything it was to begin with is sealed, values that it was given included. */
export function deferChild(
  { sealing }: Host,
  order: ChildOrder,
  about: { readonly needs: Requirement; readonly run: number; readonly toolName: string },
): { readonly requestId: string; readonly write: Write } {
  const requestId = crypto.randomUUID();
  const { parent, relationship } = order;
  const { required, missing } = about.needs;
  const shown: DeferredShown = {
    agent_name: relationship.agent,
    registry_agent_name: relationship.as,
    required,
    missing,
  };
  // The child is created when the parent may have gone on: nobody waits for it then.
  const kept = JSON.stringify({ ...order, parent: undefined, requestId: null, files: withoutBytes(order.files) });
  return {
    requestId,
    write: {
      write: "request",
      thread_id: parent.thread.id,
      run: about.run,
      request: {
        id: requestId,
        call: NO_CALL,
        kind: "variables",
        tool_name: about.toolName,
        shown: JSON.stringify(shown),
        sealed: sealing.seal(kept, requestId),
        binding: sealing.bind(snapshotMap(shown), requestId),
        expires_after: null,
      },
    },
  };
}

/** The order that a request stands for, for a parent as it is now. */
export function orderOfRequest(
  { sealing }: Host,
  { id, sealed }: Pick<StoredRequest, "id"> & { readonly sealed: string },
  parent: Parent,
): ChildOrder {
  return { ...(JSON.parse(sealing.open(sealed, id)) as Omit<ChildOrder, "parent">), parent };
}

export function shownOf({ shown }: StoredRequest): DeferredShown {
  return JSON.parse(shown) as DeferredShown;
}

/** True while a child of that relationship waits for its variables. */
export async function isDeferred({ stores }: Host, threadId: string, relationship: string): Promise<boolean> {
  const pending = await stores.requests.list({ thread_id: threadId, status: "pending", limit: MOST_PENDING });
  return pending.some((each) => each.kind === "variables" && shownOf(each).registry_agent_name === relationship);
}

/** Bytes are stored with the file they were written to; a copy only names them. */
function withoutBytes({ writes, copied }: ChildOrder["files"]): JsonMap {
  const named = writes.map((write) => {
    if (write.write !== "file") return write;
    const { content: _stored, ...file } = write.file;
    return { ...write, file };
  });
  return snapshotMap({ writes: named, copied });
}
