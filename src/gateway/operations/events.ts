// The operations on the gateway's event stream: read a part of it, or follow it.
import { z } from "zod";
import type { Operation } from "../../abilities/operation.ts";
import { jsonMap } from "../../abilities/shapes.ts";
import type { StreamEntry } from "../../backend/gateway/gateway-event-store.ts";
import { holdfastError } from "../../contracts/error.ts";
import type { GatewayDeps } from "./deps.ts";
import { isoTime } from "./shapes.ts";

export type GatewayStreamEvent = {
  readonly id: string;
  readonly type: string;
  readonly job_id: string | null;
  readonly at: string;
  readonly data: object;
};

/** The answer is an `AsyncIterable<GatewayStreamEvent>`. */
export const FOLLOW_GATEWAY_EVENTS = "holdfast/follow-gateway-events";

const position = z
  .string()
  .regex(/^(\d{1,15}|now)$/)
  .optional()
  .meta({ description: "The id of the last event that was seen, or now; from the oldest one unless given." });

export function eventOperations({ define, gateway }: GatewayDeps): readonly Operation[] {
  const { events } = gateway;
  /** Behind an id that was never given, such as one of another database, nothing would come for a long time. */
  async function behind(after: string | undefined): Promise<number> {
    if (after === undefined) return 0;
    const last = await events.last();
    if (after === "now") return last;
    if (Number(after) <= last) return Number(after);
    throw holdfastError("invalid_stream_position", `"${after}" is no id of an event: the last one is ${last}.`);
  }
  return [
    define({
      name: "holdfast/list-gateway-events",
      title: "List gateway events",
      description: "What happened in the gateway, oldest first. Ids rise over restarts.",
      input: z.object({ after: position, limit: z.coerce.number().int().min(1).max(1_000).default(100) }),
      output: z.object({
        events: z.array(
          z.object({
            id: z.string(),
            type: z.string(),
            job_id: z.string().nullable(),
            at: z.iso.datetime(),
            data: jsonMap,
          }),
        ),
      }),
      effect: "read",
      capability: "gateway.events",
      async execute({ after, limit }) {
        const found = await events.read(await behind(after), limit);
        return { events: found.map(describeEntry) as never };
      },
    }),

    define({
      name: FOLLOW_GATEWAY_EVENTS,
      title: "Follow the gateway",
      description: "The events of the gateway behind an id, and new ones as they are committed.",
      input: z.object({ after: position }),
      output: z.custom<AsyncIterable<GatewayStreamEvent>>(),
      effect: "read",
      capability: "gateway.events",
      doors: ["http", "cli"],
      async execute({ after }, { signal }) {
        return described(events.follow(await behind(after), signal));
      },
    }),
  ];
}

async function* described(entries: AsyncIterable<StreamEntry>): AsyncGenerator<GatewayStreamEvent> {
  for await (const entry of entries) yield describeEntry(entry);
}

function describeEntry({ id, type, job_id, at, data }: StreamEntry): GatewayStreamEvent {
  return { id: String(id), type, job_id, at: isoTime(at), data: JSON.parse(data) as object };
}
