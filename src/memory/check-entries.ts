// Has memories that may be out of date checked by their validators before they are used.
import { isMap } from "../contracts/json.ts";
import type { MemoryScope } from "../contracts/memory/memory-scope.ts";
import type { FoundMemory } from "../contracts/memory/memory-store.ts";
import * as validation from "../contracts/memory/memory-validator.ts";
import { inTime } from "./in-time.ts";
import type { Memory } from "./memory.ts";

/** `unchecked`: it was due, and nobody could tell. */
export type Checked = {
  readonly entry: FoundMemory;
  readonly scope: MemoryScope;
  readonly state: "fine" | "unchecked" | "stale";
};

const VALIDATOR_MS = 2_000;

/** After so many seconds somebody is asked again who could not tell. */
const ASK_AGAIN = 60;

/** All at once: one that hangs costs its own time, and not that of the others. */
export async function checkEntries(
  memory: Memory,
  scope: MemoryScope,
  entries: readonly FoundMemory[],
): Promise<readonly Checked[]> {
  return await Promise.all(entries.map((entry) => checkEntry(memory, { ...scope, filename: entry.filename }, entry)));
}

async function checkEntry(memory: Memory, scope: MemoryScope, entry: FoundMemory): Promise<Checked> {
  if (!isOld(memory, entry)) return { entry, scope, state: "fine" };
  const result = (await lastResult(memory, scope)) ?? (await checkNow(memory, scope, entry));
  const { status, confidence } = result;
  if (status === "stale") return { entry, scope, state: "stale" };
  if (status !== "valid") return { entry, scope, state: "unchecked" };
  const metadata = confidence === null ? entry.metadata : { ...entry.metadata, confidence };
  return { entry: { ...entry, metadata }, scope, state: "fine" };
}

function isOld({ staleAfterSeconds, now }: Memory, { metadata, updated_at }: FoundMemory): boolean {
  if (metadata?.validator === undefined) return false;
  return now() - (metadata.updated_at ?? updated_at ?? 0) > staleAfterSeconds;
}

/** What was found out not long ago, so that nobody is asked at every step. */
async function lastResult(
  { ours, now, staleAfterSeconds }: Memory,
  scope: MemoryScope,
): Promise<validation.ValidationResult | undefined> {
  const last = await ours?.validation(scope);
  if (!last) return undefined;
  const couldTell = last.status === "valid" || last.status === "stale";
  const holdsFor = couldTell ? staleAfterSeconds : Math.min(ASK_AGAIN, staleAfterSeconds);
  return now() - last.validated_at > holdsFor ? undefined : readResult({ ...last, confidence: null });
}

async function checkNow(memory: Memory, scope: MemoryScope, entry: FoundMemory): Promise<validation.ValidationResult> {
  const result = await validate(memory, scope, entry);
  const { status, confidence, message } = result;
  await memory.ours?.revalidated(scope, entry.hash, { status, confidence, message, at: memory.now() });
  return result;
}

/** A validator that is not here, throws, hangs or answers with something else has told nothing. */
async function validate(memory: Memory, scope: MemoryScope, { content, metadata }: FoundMemory) {
  const validator = memory.validators.get(metadata?.validator ?? "");
  if (!validator) return validation.unsupported(`Nobody here is the validator "${metadata?.validator}".`);
  const { workspace_type, workspace_id } = scope;
  try {
    const told = await inTime(VALIDATOR_MS, () =>
      validator.validate(scope, content, metadata ?? {}, { workspace_type, workspace_id }),
    );
    return readResult(told);
  } catch (thrown) {
    memory.report(thrown);
    return validation.error("The validator failed.");
  }
}

function readResult(told: unknown): validation.ValidationResult {
  const { status, message, confidence } = isMap(told) ? told : {};
  const words = typeof message === "string" ? message : null;
  const trust = typeof confidence === "number" && confidence >= 0 && confidence <= 1 ? confidence : null;
  if (status === "valid") return validation.valid(trust, words);
  if (status === "stale") return validation.stale(words, trust);
  if (status === "unsupported") return validation.unsupported(words);
  return validation.error(words ?? "The validator gave no answer that can be read.");
}
