// The operations on children that wait for variables: see what is missing, and set it. Values go in, and never come out
// again.
import { z } from "zod";
import { lenientInput } from "./lenient-input.ts";
import type { Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { id } from "./shapes.ts";

const about = {
  parent_thread_id: id.meta({ description: "The thread whose child waits." }),
  request_id: id.meta({ description: "As the error told it that the parent got." }),
};

const path = "/threads/{parent_thread_id}/variables/{request_id}";

export function variableOperations({ runtime: { variables }, define, reach }: Workbench): readonly Operation[] {
  return [
    define({
      name: "holdfast/get-variables",
      title: "See which variables a subagent waits for",
      description: "Tells which variables a subagent needs before it can be created, and which are missing.",
      input: z.object(about),
      output: z.object({
        ...{ request_id: z.string(), parent_thread_id: z.string() },
        ...{ agent_name: z.string(), registry_agent_name: z.string() },
        ...{ required: z.array(z.string()), missing: z.array(z.string()) },
      }),
      effect: "read",
      capability: "threads.read",
      route: { method: "get", path },
      async execute({ parent_thread_id, request_id }, { principal }) {
        await reach.thread(parent_thread_id, principal, "read");
        const { required, missing, ...request } = await variables.get(parent_thread_id, request_id);
        return { ...request, required: [...required], missing: [...missing] };
      },
    }),

    define({
      name: "holdfast/submit-variables",
      title: "Set the variables a subagent waits for",
      description: "Sets the variables that a subagent needs, creates it and starts it. Works once.",
      // What stands in env need not be text, and whatever stands in it may be a secret.
      input: lenientInput(z.object({ ...about, env: z.record(z.string(), z.json()).meta({ writeOnly: true }) })),
      output: z.object({ request_id: z.string(), child_thread_id: z.string(), status: z.literal("success") }),
      effect: "write",
      capability: "requests.answer",
      route: { method: "post", path },
      async execute({ parent_thread_id, request_id, env }, { principal }) {
        const thread = String(parent_thread_id);
        await reach.thread(thread, principal);
        // Read where it is used: what is wrong with it is told without repeating a value.
        return await variables.submit(thread, String(request_id), { env: env as Record<string, unknown> });
      },
    }),
  ];
}
