// The operations of bridges: programs elsewhere that bring what people say and fetch what agents answer. A token is for
// one client: what waits for another one is not there for it.
import { z } from "zod";
import { bridgeSlug } from "../contracts/channels/connector-slug.ts";
import { holdfastError } from "../contracts/error.ts";
import { type OperationError, operationError } from "../contracts/operation-error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import { defined } from "./defined.ts";
import type { Operation } from "./operation.ts";
import type { Workbench } from "./reach.ts";
import { id, jsonMap, LONGEST_ID } from "./shapes.ts";

const client_id = id.optional().meta({ description: "That of the token unless given." });

const clientShape = z.object({
  client_id: z.string(),
  connector_id: z.string().nullable(),
  callback_url: z.string().nullable(),
  context: jsonMap,
  registered_at: z.string(),
});

const itemShape = z.object({
  queue_id: z.string(),
  client_id: z.string(),
  connector_id: z.string().nullable(),
  agent: z.string(),
  session_id: z.string().nullable(),
  role: z.enum(["assistant", "system", "tool"]),
  content: z.string(),
  completed: z.boolean(),
  created_at: z.string(),
  delivery_status: z.enum(["pending", "delivered", "failed"]),
  metadata: jsonMap,
});

const MOST_IDS = 500;

/** A query brings several as one text, with commas. */
const listOfIds = z
  .union([
    z.array(z.string().max(LONGEST_ID)).max(MOST_IDS),
    z
      .string()
      .max(MOST_IDS * 100)
      .transform((text) => text.split(",")),
  ])
  .transform((ids) => ids.map((each) => each.trim()).filter((each) => each !== ""))
  .refine((ids) => ids.length <= MOST_IDS, `must be ${MOST_IDS} at most`);

export function bridgeOperations({ runtime, define, reach }: Workbench): readonly Operation[] {
  const { bridge } = runtime;

  /** The client that the caller speaks for. Whoever manages everything may name any; others have their own. */
  async function clientOf(principal: Principal, named: string | undefined): Promise<string | OperationError> {
    const own = bridgeSlug(principal.client_id);
    const asked = named === undefined ? own : bridgeSlug(named);
    if (asked === "") return operationError("invalid_input", "client_id is needed: the token has no client.");
    if (asked === own || (own === "" && (await reach.managesThreads(principal)))) return asked;
    return operationError("bridge_client_forbidden", `The client "${asked}" is not that of the token.`);
  }

  /** The connector that a client is registered for; it speaks for no other one. */
  async function connectorOf(clientId: string, named: string | undefined): Promise<string | null | OperationError> {
    const registered = (await bridge.client(clientId))?.connector_id ?? null;
    const asked = named === undefined ? registered : bridgeSlug(named);
    if (registered === null || asked === registered) return asked;
    return operationError("bridge_client_forbidden", `The client is registered for the connector "${registered}".`);
  }

  return [
    define({
      name: "holdfast/register-bridge",
      title: "Register a bridge",
      description:
        "Registers the client of a bridge, or replaces what was registered. A registration is no credential.",
      input: z.object({
        client_id,
        connector_id: z.string().max(LONGEST_ID).optional(),
        callback_url: z.string().max(2_048).optional(),
        context: jsonMap.optional(),
      }),
      output: clientShape,
      effect: "write",
      idempotent: true,
      capability: "bridge.use",
      route: { method: "post", path: "/agents-api/v1/bridge/register" },
      async execute({ client_id: named, ...about }, { principal }) {
        const client = await clientOf(principal, named);
        if (typeof client !== "string") return client;
        return { ...(await bridge.register({ ...about, client_id: client })) } as z.input<typeof clientShape>;
      },
    }),

    define({
      name: "holdfast/send-bridge-message",
      title: "Bring a message over a bridge",
      description:
        "Stores what somebody has said. The agent's answer waits in the queue of the client when there is one.",
      input: z.object({
        client_id,
        connector_id: z.string().max(LONGEST_ID).optional(),
        agent: id,
        message: z.string().min(1),
        message_id: z.string().min(1).max(500).optional().meta({ description: "The idempotency key unless given." }),
        conversation_id: z.string().min(1).max(500).optional().meta({ description: "Its name at the other end." }),
        session_id: id.optional().meta({ description: "The session that goes on." }),
        sender_id: z.string().max(500).optional(),
        room_kind: z.enum(["dm", "group", "channel"]).optional(),
        attachments: z.array(z.json()).max(20).optional(),
      }),
      output: z.object({ status: z.enum(["accepted", "duplicate"]), session_id: z.string(), message_id: z.string() }),
      effect: "write",
      idempotent: true,
      capability: "bridge.use",
      route: { method: "post", path: "/agents-api/v1/bridge/send", status: 202 },
      async execute({ client_id: named, connector_id: connector, message_id, ...said }, { principal, key }) {
        const client = await clientOf(principal, named);
        if (typeof client !== "string") return client;
        const connector_id = await connectorOf(client, connector);
        if (connector_id !== null && typeof connector_id !== "string") return connector_id;
        const id = message_id ?? key;
        if (id === undefined)
          return operationError("invalid_input", "message_id is needed: it keeps a repeat from being answered again.");
        if (!(await reach.agent(said.agent, principal))) {
          throw holdfastError("agent_not_found", `There is no agent "${said.agent}" that the caller may use.`);
        }
        const { agent, message, ...rest } = said;
        return await bridge.send({ client_id: client, connector_id, agent, message, message_id: id, ...defined(rest) });
      },
    }),

    define({
      name: "holdfast/list-bridge-messages",
      title: "Fetch what waits for a bridge",
      description:
        "What agents have to say to the people behind a client, the oldest first. It waits until it is acknowledged.",
      input: z.object({
        client_id,
        limit: z.coerce.number().int().min(1).max(500).default(25),
        session_ids: listOfIds.optional(),
      }),
      output: z.object({ messages: z.array(itemShape) }),
      effect: "read",
      capability: "bridge.use",
      route: { method: "get", path: "/agents-api/v1/bridge/pending" },
      async execute({ client_id: named, limit, session_ids }, { principal }) {
        const client = await clientOf(principal, named);
        if (typeof client !== "string") return client;
        const items = await bridge.pending(client, { limit, ...defined({ session_ids }) });
        return { messages: items.map((item) => ({ ...item })) as z.input<typeof itemShape>[] };
      },
    }),

    define({
      name: "holdfast/acknowledge-bridge-messages",
      title: "Acknowledge what a bridge has fetched",
      description: "Removes messages from the queue of a client. Those of others, and unknown ones, are left alone.",
      input: z.object({ client_id, queue_ids: z.array(z.string().max(LONGEST_ID)).min(1).max(500) }),
      output: z.object({ acknowledged: z.int() }),
      effect: "destroy",
      idempotent: true,
      capability: "bridge.use",
      route: { method: "post", path: "/agents-api/v1/bridge/ack" },
      async execute({ client_id: named, queue_ids }, { principal }) {
        const client = await clientOf(principal, named);
        if (typeof client !== "string") return client;
        return { acknowledged: await bridge.ack(client, queue_ids) };
      },
    }),
  ];
}
