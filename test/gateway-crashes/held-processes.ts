// Processes of the held plugin, seen from outside.
import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../survives-a-crash/within.ts";
import { PATIENCE_MS, type Site, type Stage } from "./site.ts";

export type HeldProcess = {
  readonly pid: number;
  /** Waits in the same group. */
  readonly child: number;
};

/** The process of the so-many-th execution, once it runs. */
export async function heldProcess(stage: Stage, execution: number): Promise<HeldProcess> {
  const found = until(() => stage.executions().filter(({ step }) => step === "held")[execution - 1]);
  const { pid, child } = await within(PATIENCE_MS, found, `The plugin was not executed ${execution} times.`);
  return { pid: Number(pid), child: Number(child) };
}

export function release({ ledger }: Site, { name }: Stage, { pid }: HeldProcess): void {
  ledger.note(`release ${name} ${pid}`);
}

/** Resolves once the process has written its answer, whoever reads it. */
export async function lateEnd({ ledger }: Site, { name }: Stage, { pid }: HeldProcess): Promise<void> {
  const isItsEnd = (effect: { name: string; case?: unknown; pid?: unknown }) =>
    effect.name === "late end" && effect.case === name && effect.pid === pid;
  const end = until(() => ledger.effects().find(isItsEnd));
  await within(PATIENCE_MS, end, "A plugin that was released did not end.");
}

/** Resolves once neither the process nor its child is there any more. */
export async function killed({ pid, child }: HeldProcess): Promise<void> {
  const gone = until(() => ![pid, child].some(isAlive) || undefined);
  await within(PATIENCE_MS / 2, gone, "The processes of a plugin outlived the lease of its job.");
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until<Value>(look: () => Value | undefined): Promise<Value> {
  for (;;) {
    const value = look();
    if (value !== undefined) return value;
    await sleep(25);
  }
}
