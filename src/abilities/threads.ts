// The operations on threads: open one, list them, look at one, stop it, let it go on, fork it, end it.
import { z } from "zod";
import { holdfastError } from "../contracts/error.ts";
import { readPlace, writePlace } from "../contracts/list-place.ts";
import { entryKey } from "./caller-identity.ts";
import { defined } from "./defined.ts";
import { openFor } from "./open-for.ts";
import type { Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import {
  anyId,
  id,
  jsonMap,
  LONGEST_ID,
  listPlace,
  note,
  outcomeShape,
  ownKey,
  positionOf,
  queuedShape,
  shownStanding,
  shownThread,
  standingShape,
  threadId,
  threadShape,
} from "./shapes.ts";

const PAGE = 50;

/** How many events an export has at once. */
const EXPORTED = 5_000;

export function threadOperations(workbench: Workbench): readonly Operation[] {
  const { runtime, define, reach } = workbench;
  const { threads } = runtime;

  return [
    define({
      name: "holdfast/open-thread",
      title: "Open a thread",
      description: "Opens the thread of a key with an agent: the same one every time. Without a key it is a new one.",
      input: z.object({
        agent: id.meta({ description: "The slug of the agent." }),
        key: ownKey.optional().meta({ description: "Your own name for the thread." }),
        tags: z.array(z.string().max(LONGEST_ID)).max(100).optional(),
        env: z.record(z.string().max(LONGEST_ID), z.string().max(64_000)).optional().meta({ writeOnly: true }),
        workspace: z.object({ workspace_type: id, workspace_id: id }).optional(),
        budget: z.string().max(LONGEST_ID).optional(),
      }),
      output: threadShape,
      effect: "write",
      idempotent: true,
      capability: "threads.write",
      route: { method: "post", path: "/threads", status: 201 },
      async execute({ agent, key, tags, env, workspace, budget }, { principal, key: idempotencyKey }) {
        // Whose budgets there are is not for everybody to find out, nor is what is left of them for everybody to spend.
        if (budget !== undefined && !(await reach.managesThreads(principal))) {
          throw holdfastError("budget_not_found", `There is no budget "${budget}".`);
        }
        const opening = { agent, ...defined({ tags, env, workspace, budget }) };
        const opened = await openFor(workbench, { key, idempotencyKey }, opening, principal);
        return shownThread(await opened.status());
      },
    }),

    define({
      name: "holdfast/list-threads",
      title: "List threads",
      description: "Lists threads in the order of their creation: one's own, or everybody's for whoever manages them.",
      input: z.object({
        agent: anyId.optional(),
        status: threadShape.shape.status.optional(),
        parent: anyId.optional(),
        after: listPlace.optional().meta({ description: "What next told, or the id of the last one that was seen." }),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
      }),
      output: z.object({ threads: z.array(threadShape), has_more: z.boolean(), next: z.string().optional() }),
      effect: "read",
      capability: "threads.read",
      doors: ["http", "cli", "mcp"],
      route: { method: "get", path: "/threads" },
      async execute({ limit, after, ...query }, { principal }) {
        const scope = await reach.scope(principal);
        const behind = after === undefined ? undefined : readPlace(after);
        const seen = behind ? undefined : after;
        // Another's is no place in the caller's list: where it stands would tell that it is there, and since when.
        if (seen !== undefined && !(await reach.has(seen, principal, "read"))) return { threads: [], has_more: false };
        const found = await threads.list({ ...defined({ ...query, after: seen, behind }), ...scope, limit: limit + 1 });
        const page = found.slice(0, limit);
        const last = found.length > limit ? page.at(-1) : undefined;
        return {
          threads: page.map(shownThread),
          has_more: last !== undefined,
          ...(last && { next: writePlace(last) }),
        };
      },
    }),

    define({
      name: "holdfast/find-thread",
      title: "Find a thread by its key",
      description: "Tells how the thread of a key stands that the caller has opened. Looking for one opens none.",
      input: z.object({ key: ownKey.meta({ description: "Your own name for the thread." }) }),
      output: standingShape,
      effect: "read",
      capability: "threads.read",
      doors: ["http", "cli", "mcp"],
      route: { method: "get", path: "/threads/by-key/{key}" },
      async execute({ key }, { principal }) {
        const found = await threads.find(await reach.threadKey({ key }, principal));
        if (!found || !(await reach.has(found.id, principal, "read"))) {
          throw holdfastError("thread_not_found", `The caller has opened no thread under the key "${key}".`);
        }
        return shownStanding(await found.standing());
      },
    }),

    define({
      name: "holdfast/get-thread",
      title: "Look at a thread",
      description: "Tells how a thread stands.",
      input: z.object({ thread_id: threadId }),
      output: standingShape,
      effect: "read",
      capability: "threads.read",
      doors: ["http", "cli", "mcp"],
      route: { method: "get", path: "/threads/{thread_id}" },
      async execute({ thread_id }, { principal }) {
        return shownStanding(await (await reach.view(thread_id, principal, "read")).standing());
      },
    }),

    define({
      name: "holdfast/stop-thread",
      title: "Stop a thread",
      description: "Stops what the thread is doing and answers when it has stopped. What is queued is kept.",
      input: z.object({ thread_id: threadId, reason: note.optional() }),
      output: threadShape,
      effect: "write",
      idempotent: true,
      capability: "threads.write",
      route: { method: "post", path: "/threads/{thread_id}/stop" },
      async execute({ thread_id, reason }, { principal, key, signal }) {
        const thread = await reach.thread(thread_id, principal, "read");
        return shownThread(await thread.stop({ ...defined({ reason, key: entryKey(principal, key), signal }) }));
      },
    }),

    define({
      name: "holdfast/continue-thread",
      title: "Continue a thread",
      description:
        "Lets a stopped thread go on with what is queued, or asks the model once more. Answers with what the run came to or waits for, or at once.",
      input: z.object({ thread_id: threadId, wait: z.boolean().default(true) }),
      output: z.union([outcomeShape, queuedShape]),
      effect: "write",
      capability: "threads.write",
      route: { method: "post", path: "/threads/{thread_id}/continue" },
      async execute({ thread_id, wait }, { principal, key, signal }) {
        const thread = await reach.thread(thread_id, principal);
        if (wait) return await thread.continue({ ...defined({ key: entryKey(principal, key), signal }) });
        const position = positionOf(await thread.status());
        const { id } = await thread.wake({ ...defined({ key: entryKey(principal, key) }) });
        return { status: "queued" as const, id, thread_id, position };
      },
    }),

    define({
      name: "holdfast/fork-thread",
      title: "Fork a thread",
      description: "Makes a new thread with this one's history up to a settled step.",
      input: z.object({
        thread_id: threadId,
        key: ownKey.optional().meta({ description: "Your own name for the fork." }),
        at: z.coerce.number().int().min(0).optional().meta({ description: "The number of the last event to keep." }),
      }),
      output: threadShape,
      effect: "write",
      capability: "threads.write",
      route: { method: "post", path: "/threads/{thread_id}/fork", status: 201 },
      async execute({ thread_id, key, at }, { principal, key: idempotencyKey }) {
        const thread = await reach.thread(thread_id, principal);
        const own = await reach.threadKey({ key, idempotencyKey, madeBy: "fork" }, principal);
        const forked = await thread.fork(own, { ...defined({ at }) });
        return shownThread(await forked.status());
      },
    }),

    define({
      name: "holdfast/terminate-thread",
      title: "End a thread for good",
      description: "Stops a thread and all its children for good. It can still be read.",
      input: z.object({ thread_id: threadId }),
      output: threadShape,
      effect: "destroy",
      idempotent: true,
      capability: "threads.write",
      route: { method: "post", path: "/threads/{thread_id}/terminate" },
      async execute({ thread_id }, { principal, signal }) {
        const thread = await reach.thread(thread_id, principal, "read");
        return shownThread(await thread.terminate({ ...defined({ signal }) }));
      },
    }),

    define({
      name: "holdfast/delete-thread",
      title: "Delete a thread",
      description: "Erases a thread and all that descend from it, for good.",
      input: z.object({ thread_id: threadId }),
      output: z.object({ deleted: z.array(z.string()) }),
      effect: "destroy",
      capability: "threads.write",
      route: { method: "delete", path: "/threads/{thread_id}" },
      async execute({ thread_id }, { principal }) {
        await reach.thread(thread_id, principal);
        return { deleted: [...(await threads.delete(thread_id))] };
      },
    }),

    define({
      name: "holdfast/export-thread",
      title: "Export a thread",
      description: `Everything that is stored of a thread, secrets excepted: ${EXPORTED} events at a time at most.`,
      input: z.object({
        thread_id: threadId,
        after: z.coerce.number().int().min(0).optional().meta({ description: "What next told of the part before." }),
        limit: z.coerce.number().int().min(1).max(EXPORTED).default(EXPORTED),
      }),
      output: jsonMap,
      effect: "read",
      capability: "threads.read",
      route: { method: "get", path: "/threads/{thread_id}/export" },
      async execute({ thread_id, after, limit }, { principal }) {
        const thread = await reach.thread(thread_id, principal, "read");
        return JSON.parse(JSON.stringify(await thread.export(defined({ after, limit }))));
      },
    }),
  ];
}
