// The operations on what threads want a client to run, for whoever calls: list it, hand in the result, or end it without.
import { z } from "zod";
import { lenientInput } from "./lenient-input.ts";
import type { Operation } from "./operation.ts";
import { plain } from "./plain.ts";
import type { Workbench } from "./reach.ts";
import { runtimeToolView } from "./runtime-tool-view.ts";
import * as runtimeTools from "./runtime-tools.ts";
import { anyId, id, jsonMap } from "./shapes.ts";

const requestId = id.meta({ description: "The id of the request." });

const submission = z.object({
  status: z.string(),
  ...{ request: jsonMap, result: jsonMap, duplicate: z.boolean() },
  ...{ tool_result_message: jsonMap, tool_execution_result: jsonMap, continuation_result: jsonMap.nullable() },
});

const one = lenientInput(z.object({ request_id: requestId, context: jsonMap.optional() }));

export function runtimeToolOperations(workbench: Workbench): readonly Operation[] {
  const { define } = workbench;
  const storeFor = runtimeToolView(workbench);
  const path = "/runtime-tool-requests/{request_id}";
  const changes = { effect: "write", idempotent: true, capability: "requests.answer" } as const;
  const reads = { effect: "read", capability: "requests.answer" } as const;

  return [
    define({
      name: "agents/list-runtime-tool-requests",
      title: "List what a client is to run",
      description: "The pending requests of the caller's threads, with the whole call for whoever runs it.",
      input: lenientInput(
        z.object({
          run_id: anyId.optional(),
          tool_name: anyId.optional(),
          before: anyId.optional().meta({ description: "Those that were asked before this one." }),
          after: anyId.optional().meta({ description: "Those that were asked after this one." }),
          limit: z.int().min(1).optional(),
        }),
      ),
      output: z.object({ status: z.string(), requests: z.array(jsonMap), count: z.int() }),
      ...reads,
      route: { method: "get", path: "/runtime-tool-requests" },
      execute: async (input, { principal }) => plain(await runtimeTools.list(input, { store: storeFor(principal) })),
    }),

    define({
      name: "agents/get-runtime-tool-request",
      title: "Read what a client is to run",
      description: "One request in whatever status it has, with its result once there is one.",
      input: lenientInput(z.object({ request_id: requestId })),
      output: z.object({ status: z.string(), request: jsonMap }),
      ...reads,
      route: { method: "get", path },
      execute: async (input, { principal }) => plain(await runtimeTools.get(input, { store: storeFor(principal) })),
    }),

    define({
      name: "agents/submit-runtime-tool-result",
      title: "Hand in what a client has run",
      description: "Hands in a result, and the thread goes on. A repeat returns the first one.",
      input: lenientInput(
        z.object({
          request_id: requestId,
          result: z.json().optional(),
          success: z.boolean().default(true),
          error: z.string().optional(),
          metadata: jsonMap.optional(),
          context: jsonMap.optional(),
        }),
      ),
      output: submission,
      ...changes,
      route: { method: "post", path: `${path}/result` },
      execute: async (input, { principal }) => plain(await runtimeTools.submit(input, { store: storeFor(principal) })),
    }),

    define({
      name: "agents/timeout-runtime-tool-request",
      title: "Time a client's tool out",
      description: "Ends a request without a result, and the thread goes on. A repeat returns how it ended.",
      input: one,
      output: submission,
      ...changes,
      route: { method: "post", path: `${path}/timeout` },
      execute: async (input, { principal }) => plain(await runtimeTools.timeout(input, { store: storeFor(principal) })),
    }),

    define({
      name: "agents/cancel-runtime-tool-request",
      title: "Cancel a client's tool",
      description: "Ends a request because nobody will run the tool, and the thread goes on.",
      input: one,
      output: submission.extend({ cancelled: z.literal(true) }),
      ...changes,
      route: { method: "post", path: `${path}/cancel` },
      execute: async (input, { principal }) => plain(await runtimeTools.cancel(input, { store: storeFor(principal) })),
    }),
  ];
}
