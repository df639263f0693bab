// A write that came with a key is done once: whoever repeats it is told what the first one came to. Where whoever was at
// it died between the effect and its outcome, it is done again, and what it calls has to know the key too.
import { setTimeout as pause } from "node:timers/promises";
import type { OutcomeBegun, OutcomeClaim, OutcomeStore } from "../backend/outcome-store.ts";
import type { JsonMap } from "../contracts/json.ts";
import {
  isOperationError,
  type OperationError,
  operationError,
  operationErrorOf,
} from "../contracts/operation-error.ts";
import { isName } from "../contracts/storable-name.ts";
import { conversationOwner } from "../contracts/trust/conversation-owner.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { FirstOutcomes } from "../threads/first-outcomes.ts";
import { callerIdentity } from "./caller-identity.ts";

export type KeyedWrite = {
  readonly principal: Principal;
  readonly operation: string;
  readonly key: string;
  readonly input: JsonMap;
  readonly signal?: AbortSignal;
};

/** After this time without a word, whoever was at it counts as dead. */
const LEASE_MS = 60_000;

/** How long a repeat waits for the first one to come to its end, and how long between two looks. */
const PATIENCE_MS = 10_000;
const FIRST_LOOK_MS = 10;
const LONGEST_LOOK_MS = 500;

/** What `execute` answers, or answered the first time. Throws what it throws, and what the database does. */
export async function runOnce(
  outcomes: FirstOutcomes,
  write: KeyedWrite,
  execute: () => Promise<unknown>,
): Promise<unknown> {
  const refusal = keyRefusal(write);
  if (refusal) return refusal;
  const { store, sealing } = outcomes;
  const claim = claimOf(outcomes, write);
  const about = sealedAbout(claim);
  const begun = await begin(outcomes, write, claim);
  switch (begun.outcome) {
    case "known":
      return (JSON.parse(sealing.open(begun.sealed, about)) as { answer?: unknown }).answer;
    case "conflicting":
      return operationError("idempotency_conflict", `The key "${write.key}" was used for another write before.`);
    case "under_way":
      return operationError("idempotency_in_progress", `The write with the key "${write.key}" is still under way.`);
    case "begun":
      break;
    default:
      return begun satisfies never;
  }
  const done = await attempt(outcomes, claim, execute);
  const text = keptText(done.answer);
  if (text === undefined) await store.abandon(claim).catch(outcomes.report);
  else await store.settle(claim, sealing.seal(text, about), outcomes.keepMs * 1_000).catch(outcomes.report);
  // An outcome that could not be kept is an outcome all the same: the next repeat finds out about it as after a crash.
  if ("threw" in done) throw done.threw;
  return done.answer;
}

/** Waits for whoever is at it, though not for long: it may take hours. */
async function begin({ store, sealing, keepMs }: FirstOutcomes, write: KeyedWrite, claim: OutcomeClaim) {
  const { operation, input, signal } = write;
  const payload_hash = sealing.bind({ operation, input }, "payload of a write");
  const wanted = { ...claim, payload_hash, lease_us: LEASE_MS * 1_000, keep_us: keepMs * 1_000 };
  const until = performance.now() + PATIENCE_MS;
  let begun: OutcomeBegun = await store.begin(wanted);
  for (let look = FIRST_LOOK_MS; begun.outcome === "under_way" && !isOver(until, signal); look *= 2) {
    await pause(Math.min(look, LONGEST_LOOK_MS), undefined, signal && { signal }).catch(() => undefined);
    begun = await store.begin(wanted);
  }
  return begun;
}

function isOver(until: number, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true || performance.now() >= until;
}

type Done = { readonly answer: unknown; readonly threw?: unknown };

/** Does it, and lets everybody know meanwhile that somebody is at it. */
async function attempt({ store, report }: FirstOutcomes, claim: OutcomeClaim, execute: () => Promise<unknown>) {
  const beat = setInterval(() => void store.prolong(claim, LEASE_MS * 1_000).catch(report), LEASE_MS / 4);
  beat.unref();
  try {
    return { answer: await execute() } satisfies Done;
  } catch (threw) {
    // The answer that the door gets from what is thrown.
    return { answer: operationErrorOf(threw, "ability_exception"), threw } satisfies Done;
  } finally {
    clearInterval(beat);
  }
}

/** Undefined for what is not kept: a refusal before anything was done, and a stream, which nobody can be told again. */
function keptText(answer: unknown): string | undefined {
  if (isOperationError(answer) && isWithoutEffect(answer)) return undefined;
  if (typeof answer === "object" && answer !== null && (Symbol.asyncIterator in answer || answer instanceof Response)) {
    return undefined;
  }
  return JSON.stringify({ answer });
}

/** Nothing was done, or only the database knows: a repeat is to try again. */
const WITHOUT_EFFECT =
  /^(unauthenticated|aborted|ability_aborted|invalid_.+|.+_not_found|.+_forbidden|.+_missing|idempotency_.+|database_.+|.+_acts_with_more)$/;

function isWithoutEffect({ code }: OperationError): boolean {
  return WITHOUT_EFFECT.test(code);
}

function keyRefusal({ operation, key, principal }: KeyedWrite): OperationError | undefined {
  if (!isName(key)) {
    return operationError("invalid_input", "An idempotency key is a text of 1 to 2000 bytes that is not blank.");
  }
  if (principal.auth_source === "system" || conversationOwner({ ...principal })) return undefined;
  return operationError(
    "invalid_input",
    `"${operation}" takes no idempotency key here: nothing tells this caller from others like it, who would share it.`,
  );
}

/** How a write with a key stands, without doing it. */
export async function findOutcome(
  { store, sealing }: Pick<FirstOutcomes, "store" | "sealing">,
  { principal, operation, key }: Pick<KeyedWrite, "principal" | "operation" | "key">,
): ReturnType<OutcomeStore["find"]> {
  const caller = sealing.bind(callerIdentity(principal), "caller of a write");
  return await store.find({ caller, operation, idempotency_key: key });
}

function claimOf({ sealing }: FirstOutcomes, { principal, operation, key }: KeyedWrite): OutcomeClaim {
  const caller = sealing.bind(callerIdentity(principal), "caller of a write");
  return { caller, operation, idempotency_key: key, claim_id: crypto.randomUUID() };
}

function sealedAbout({ caller, operation, idempotency_key }: OutcomeClaim): string {
  return `outcome:${caller}:${operation}:${idempotency_key}`;
}
