// Sends the reply that is owed for a message, once the agent has one: an effect of the message's own thread, so that it
// survives this process, never runs beside a run, and goes out in the order in which people spoke.
import { z } from "zod";
import { handle } from "../contracts/channels/channel-pipeline.ts";
import * as externalMessage from "../contracts/channels/external-message.ts";
import { operationError } from "../contracts/operation-error.ts";
import { quietly } from "../contracts/when-ready.ts";
import { type EffectDefinition, effect } from "../threads/definitions/effect.ts";
import type { Host } from "../threads/host.ts";
import type { RunOutcome } from "../threads/outcome.ts";
import { type Attempt, again, done, failed, lastSent, lastTold, post, told } from "./attempt.ts";
import { externalFields } from "./external-fields.ts";
import { DELIVER_REPLY } from "./leave-message.ts";
import type { Delivery, Route, RouteName } from "./route.ts";
import { wakeAfterRest } from "./wake-after-rest.ts";

const UNKNOWN_ROUTE_PAUSE_MS = 60_000;
const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 3_600_000;

export type FindRoute = (name: RouteName, agent: string) => Route | undefined;

/** `world` is asked for when a reply is due, and not before. */
export function deliveryEffect(world: () => { readonly host: Host; readonly routeOf: FindRoute }): EffectDefinition {
  return effect({
    name: DELIVER_REPLY,
    description: "Sends the reply to a message of a channel or bridge to where it came from.",
    args: z.looseObject({ entry_id: z.string() }),
    // The run is over. Whoever was answered in part would be left without the rest, and nobody could tell.
    outlivesStop: true,
    async handler(state, args) {
      const { host, routeOf } = world();
      const delivery = args as unknown as Delivery;
      const route = routeOf(delivery.route, state.agentId);
      // Another process may have the channel that is not set up here.
      if (!route) return void (await again({ state, delivery }, UNKNOWN_ROUTE_PAUSE_MS));
      await deliver({ host, route, state, delivery });
    },
  });
}

async function deliver(attempt: Attempt): Promise<void> {
  const { threadId } = attempt.state;
  const { inbox, threads } = attempt.host.stores;
  const fate = await inbox.fate(threadId, attempt.delivery.entry_id);
  // Somebody took the message back, or the thread is another one: nothing is owed.
  if (!fate || (fate.drained && fate.run === null)) return;
  const run = fate.run ?? (await threads.get(threadId))?.run ?? 0;
  const outcome = await outcomeOf(attempt, run);
  const isDone = fate.run !== null && outcome !== undefined && outcome.waiting_for === undefined;
  if (!isDone) return await lookAgain(attempt, run, outcome?.waiting_for !== undefined);
  // Several messages that one run has taken in have one reply.
  if ((await lastSent(attempt)) >= run) return;
  const pause = await pauseBehindEarlier(attempt, run);
  if (pause === undefined) await send(attempt, run, outcome);
  else await again(attempt, pause);
}

async function outcomeOf({ host, state }: Attempt, run: number): Promise<RunOutcome | undefined> {
  const stored = await host.stores.threads.run(state.threadId, run);
  return stored?.outcome == null ? undefined : (JSON.parse(stored.outcome) as RunOutcome);
}

/** The run is not over: it may wait for somebody else, who may take days. */
async function lookAgain(attempt: Attempt, run: number, waits: boolean): Promise<void> {
  const { host, route, state, delivery } = attempt;
  if (waits && route.waitingText !== null && (await lastTold(attempt)) < run) {
    // A notice that does not go out keeps nobody from the reply.
    const isTold = await post(attempt, route.waitingText, "notice", run).then(
      () => true,
      () => false,
    );
    if (isTold) await told(attempt, run);
  }
  // After a part of the time that has gone by: soon for those who are quick, rarely for the rest.
  const waited = host.now() - delivery.received_at;
  const effectId = await again(attempt, Math.min(Math.max(waited / 4, SHORTEST_WAIT_MS), LONGEST_WAIT_MS));
  wakeAfterRest(host, { threadId: state.threadId, run, effectId });
}

/** How long to wait when a message of an earlier run still waits for its reply; undefined when none does. */
async function pauseBehindEarlier(attempt: Attempt, run: number): Promise<number | undefined> {
  const { host, state } = attempt;
  const sent = await lastSent(attempt);
  for (const { args, scheduledAt } of await state.getScheduledEffects(DELIVER_REPLY)) {
    const fate = await host.stores.inbox.fate(state.threadId, String(args.entry_id));
    const isEarlier = fate?.run != null && fate.run < run && fate.run > sent;
    if (isEarlier) return Math.max(1, scheduledAt / 1_000 - host.now() + 1);
  }
  return undefined;
}

async function send(attempt: Attempt, run: number, outcome: RunOutcome): Promise<void> {
  const { route, delivery, state } = attempt;
  const { message } = delivery;
  const { threadId: thread_id } = state;
  quietly(() => route.onProcessingEnd?.({ message, thread_id }));
  try {
    const { status = "failed" } = await handle(message, {
      channel: { agent: route.agent, client_name: route.client_name },
      read: () => externalMessage.normalize(externalFields(message, route)),
      session: async () => thread_id,
      remember: async () => undefined,
      chat: async () => chatResult(thread_id, outcome),
      sendResponse: (text) => post(attempt, text, "reply", run),
      sendError: (text) => post(attempt, text, "error", run),
    });
    await done(attempt, run, status);
  } catch (thrown) {
    await failed(attempt, run, thrown);
  }
}

/** What a run came to as a chat tells it. Why it failed is for whoever runs the place, not for whoever wrote. */
function chatResult(session_id: string, { status, final_content }: RunOutcome): unknown {
  if (status === "failed") return operationError("chat_failed", "");
  return { session_id, reply: final_content };
}
