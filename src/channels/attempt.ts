// One attempt at the reply to one message: what is sent, what is remembered of it, and when it is tried again.
import { errorMessage, holdfastError } from "../contracts/error.ts";
import { quietly } from "../contracts/when-ready.ts";
import type { Host } from "../threads/host.ts";
import type { ThreadState } from "../threads/state/thread-state.ts";
import type { OutboundMessage, SendOutcome } from "./channel.ts";
import { DELIVER_REPLY } from "./leave-message.ts";
import { asArguments, type Delivery, type Route } from "./route.ts";

export type Attempt = {
  readonly host: Host;
  readonly route: Route;
  /** What is written through it is committed with the end of the attempt. */
  readonly state: ThreadState;
  readonly delivery: Delivery;
};

const SEND_TIMEOUT_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 600_000;

/** Values of the thread: the last run whose reply was sent, and the last one of which was told that it waits. */
const SENT = "channel/sent_run";
const TOLD = "channel/told_run";

/** Schedules the next attempt; answers with its id. */
export async function again(
  { state, delivery }: Pick<Attempt, "state" | "delivery">,
  pauseMs: number,
): Promise<string> {
  return await state.scheduleEffect(DELIVER_REPLY, asArguments(delivery), Math.ceil(pauseMs));
}

/** What was not sent, and whether it ever will be. */
class NotSent extends Error {
  readonly outcome: Exclude<SendOutcome, undefined>;

  constructor(outcome: Exclude<SendOutcome, undefined>) {
    super(outcome.reason);
    this.outcome = outcome;
  }
}

/** Throws when it was not sent. */
export async function post(attempt: Attempt, text: string, kind: OutboundMessage["kind"], run: number): Promise<void> {
  const { message } = attempt.delivery;
  const { threadId: thread_id } = attempt.state;
  const outbound: OutboundMessage = {
    ...{ text, kind, thread_id, in_reply_to: message.message_id },
    idempotency_key: `${thread_id}:${run}:${kind}`,
    conversation_id: message.conversation_id ?? null,
    sender_id: message.sender_id ?? null,
    reply_to: message.reply_to ?? {},
  };
  const outcome = (await attempt.route.send(outbound, { signal: AbortSignal.timeout(SEND_TIMEOUT_MS) })) as SendOutcome;
  if (outcome) throw new NotSent(outcome);
}

/** Tries again later, or gives up where that is of no use. */
export async function failed(attempt: Attempt, run: number, thrown: unknown): Promise<void> {
  const { host, route, state, delivery } = attempt;
  const { failures, failing_since } = delivery;
  const outcome = thrown instanceof NotSent ? thrown.outcome : undefined;
  const since = failing_since ?? host.now();
  if (outcome?.outcome === "refused" || host.now() - since >= route.giveUpAfterMs) {
    const words = `The reply of run ${run} was given up after ${failures + 1} attempts: ${errorMessage(thrown)}`;
    host.report(holdfastError("channel_delivery_failed", words), state.threadId);
    return await done(attempt, run, "failed");
  }
  const backoff = FIRST_PAUSE_MS * 2 ** Math.min(failures, 20);
  const asked = outcome?.outcome === "later" ? (outcome.afterMs ?? 0) : 0;
  const next = { ...delivery, failures: failures + 1, failing_since: since };
  await again({ state, delivery: next }, Math.min(Math.max(backoff, asked), LONGEST_PAUSE_MS));
}

/** Nothing more is owed for the run. */
export async function done({ route, state, delivery }: Attempt, run: number, status: "sent" | "failed"): Promise<void> {
  await state.setValue(SENT, run);
  const { message } = delivery;
  quietly(() => route.onComplete?.({ message, thread_id: state.threadId, status }));
}

export async function told({ state }: Attempt, run: number): Promise<void> {
  await state.setValue(TOLD, run);
}

export const lastSent = ({ state }: Attempt) => numberIn(state, SENT);
export const lastTold = ({ state }: Attempt) => numberIn(state, TOLD);

async function numberIn(state: ThreadState, key: string): Promise<number> {
  const value = await state.getValue(key);
  return typeof value === "number" ? value : 0;
}
