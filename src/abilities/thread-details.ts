// The operations that tell more about a thread than how it stands: its runs, its calls, its logs, what it has cost, what was
// retrieved for it, and its children.
import { z } from "zod";
import { holdfastError } from "../contracts/error.ts";
import type { ChildEntry } from "../threads/state/thread-state.ts";
import type { ThreadRunSummary } from "../threads/thread.ts";
import { defined } from "./defined.ts";
import type { Door, Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { callShape, jsonMap, runNumber, shownCall, threadId, timeOf } from "./shapes.ts";
import { contextFor, contextShape } from "./shown-context.ts";

const PAGE = 100;

const doors: readonly Door[] = ["http", "cli", "mcp"];

const time = z.iso.datetime();

const runShape = z.object({
  run: z.int(),
  run_key: z.string(),
  status: z.string(),
  outcome: jsonMap.nullable().meta({ description: "What it came to, or waits for, once there is something to tell." }),
  started_at: time,
  ended_at: time.nullable(),
});

const callPlace = z
  .string()
  .regex(/^\d{1,9}\.\d{1,9}$/, "must be a run and a number")
  .max(19);

const childShape = z.object({
  thread_id: z.string(),
  name: z.string(),
  relationship: z.string(),
  title: z.string(),
  description: z.string(),
  status: z.string(),
  blocking: z.boolean(),
  resumable: z.boolean(),
  created_at: time,
});

export function threadDetailOperations({ runtime, define, reach }: Workbench): readonly Operation[] {
  return [
    define({
      name: "holdfast/list-runs",
      title: "List the runs of a thread",
      description: "The runs of a thread, oldest first, with what they came to.",
      input: z.object({
        thread_id: threadId,
        after: runNumber.optional().meta({ description: "The number of the last one seen." }),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
      }),
      output: z.object({ runs: z.array(runShape), has_more: z.boolean() }),
      effect: "read",
      capability: "threads.read",
      doors,
      route: { method: "get", path: "/threads/{thread_id}/runs" },
      async execute({ thread_id, after, limit }, { principal }) {
        const thread = await reach.thread(thread_id, principal, "read");
        const found = await thread.runs({ limit: limit + 1, ...defined({ after }) });
        return { runs: found.slice(0, limit).map(shownRun), has_more: found.length > limit };
      },
    }),

    define({
      name: "holdfast/get-run",
      title: "Look at a run",
      description: "One run of a thread, with what it came to or waits for.",
      input: z.object({ thread_id: threadId, run: runNumber.meta({ description: "The number of the run." }) }),
      output: runShape,
      effect: "read",
      capability: "threads.read",
      doors,
      route: { method: "get", path: "/threads/{thread_id}/runs/{run}" },
      async execute({ thread_id, run }, { principal }) {
        const found = await (await reach.thread(thread_id, principal, "read")).run(run);
        if (found) return shownRun(found);
        throw holdfastError("run_not_found", `Thread "${thread_id}" has no run ${run}.`);
      },
    }),

    define({
      name: "holdfast/list-calls",
      title: "List the calls of a thread",
      description:
        "The calls of tools that have begun, oldest first: how they stand, and never what they were called with.",
      input: z.object({
        thread_id: threadId,
        after: callPlace.optional().meta({ description: "The run and the number of the last one seen, such as 3.0." }),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
      }),
      output: z.object({ calls: z.array(callShape), has_more: z.boolean() }),
      effect: "read",
      capability: "threads.read",
      doors,
      route: { method: "get", path: "/threads/{thread_id}/calls" },
      async execute({ thread_id, after, limit }, { principal }) {
        const thread = await reach.thread(thread_id, principal, "read");
        const found = await thread.calls({ limit: limit + 1, ...(after && { after: placeOf(after) }) });
        return { calls: found.slice(0, limit).map(shownCall), has_more: found.length > limit };
      },
    }),

    define({
      name: "holdfast/list-logs",
      title: "Read the logs of a thread",
      description:
        "One row for every attempt at a model and every tool that ran: who, how long, what it cost. No content.",
      input: z.object({
        thread_id: threadId,
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
        offset: z.coerce.number().int().min(0).default(0),
        order: z.enum(["asc", "desc"]).default("desc").meta({ description: "desc: the newest first." }),
      }),
      output: z.object({
        logs: z.array(z.looseObject({ id: z.string(), created_at: time })),
        has_more: z.boolean(),
      }),
      effect: "read",
      capability: "threads.read",
      doors,
      route: { method: "get", path: "/threads/{thread_id}/logs" },
      async execute({ thread_id, limit, offset, order }, { principal }) {
        const thread = await reach.thread(thread_id, principal, "read");
        const rows = await thread.logs({ limit: limit + 1, offset, order });
        const logs = rows.slice(0, limit).map((row) => ({ ...row, created_at: timeOf(row.created_at) }));
        return { logs, has_more: rows.length > limit };
      },
    }),

    define({
      name: "holdfast/get-thread-cost",
      title: "Tell what a thread has cost",
      description: "What its models have cost, and those of all that descend from it, in US dollars and tokens.",
      input: z.object({ thread_id: threadId }),
      output: z.looseObject({ thread_id: z.string(), own: jsonMap, subtree: jsonMap }),
      effect: "read",
      capability: "threads.read",
      doors,
      route: { method: "get", path: "/threads/{thread_id}/cost" },
      async execute({ thread_id }, { principal }) {
        return plain(await (await reach.thread(thread_id, principal, "read")).cost());
      },
    }),

    define({
      name: "holdfast/get-thread-context",
      title: "Tell what was retrieved for a step",
      description:
        "What was retrieved for a step, the last one unless given, and why. Texts are shown to those whose they are.",
      input: z.object({ thread_id: threadId, step: z.coerce.number().int().min(0).optional() }),
      output: z.object({ context: contextShape.nullable() }),
      effect: "read",
      capability: "threads.read",
      route: { method: "get", path: "/threads/{thread_id}/context" },
      async execute({ thread_id, step }, { principal }) {
        const thread = await reach.thread(thread_id, principal, "read");
        return { context: await contextFor(runtime, principal, thread, defined({ step })) };
      },
    }),

    define({
      name: "holdfast/list-children",
      title: "List the children of a thread",
      description: "The subagents of a thread, oldest first, as it knows them itself.",
      input: z.object({
        thread_id: threadId,
        after: threadId.optional().meta({ description: "The id of the last one seen." }),
        limit: z.coerce.number().int().min(1).max(500).default(PAGE),
      }),
      output: z.object({ children: z.array(childShape), has_more: z.boolean() }),
      effect: "read",
      capability: "threads.read",
      doors,
      route: { method: "get", path: "/threads/{thread_id}/children" },
      async execute({ thread_id, after, limit }, { principal }) {
        const thread = await reach.thread(thread_id, principal, "read");
        const found = await thread.children({ limit: limit + 1, ...defined({ after }) });
        return { children: found.slice(0, limit).map(shownChild), has_more: found.length > limit };
      },
    }),
  ];
}

function placeOf(call: string): { readonly run: number; readonly number: number } {
  const [run = 0, number = 0] = call.split(".").map(Number);
  return { run, number };
}

function shownRun(stored: ThreadRunSummary): z.input<typeof runShape> {
  const { run, run_key, status, outcome, started_at, ended_at } = stored;
  return plain({
    ...{ run, run_key, status, outcome, started_at: timeOf(started_at) },
    ended_at: ended_at === null ? null : timeOf(ended_at),
  });
}

/** Without what it was created with, which may hold secrets. */
function shownChild(child: ChildEntry): z.input<typeof childShape> {
  const { reference, name, relationship, title, description, status, blocking, resumable, createdAt } = child;
  return {
    ...{ thread_id: reference, name, relationship, title, description, status, blocking, resumable },
    created_at: timeOf(createdAt),
  };
}
