// Whatever a runtime has stored or told anybody, place by place: for what must not be in any of them.
import { existsSync, readFileSync } from "node:fs";
import { inspect } from "node:util";
import { onTestFinished, vi } from "vitest";
import type { Holdfast } from "../../src/holdfast.ts";
import type { Model } from "../../src/models/model.ts";
import { type ScriptedStep, scriptedModel } from "../../src/models/scripted/scripted-model.ts";
import type { Address, World } from "../databases.ts";
import { collect } from "../following.ts";

/** A text for each place. */
export type Told = Readonly<Record<string, string>>;

/** What is stored, as the database tells it and as its files hold it. */
export async function stored(world: World): Promise<Told> {
  const tables = [...(await world.tables())].map(([name, rows]) => [`table ${name}`, rows]);
  return { ...Object.fromEntries(tables), "database files": bytesOf(world.address) };
}

/** What everybody who may look at the threads gets to see. */
export async function shown({ threads, requests, approvals, audit }: Holdfast): Promise<Told> {
  const told: Record<string, string> = {
    requests: JSON.stringify(await requests.list({ limit: 1_000 })),
    approvals: JSON.stringify(await approvals.list({ limit: 1_000 })),
    "audit export": JSON.stringify(await audit.export()),
  };
  for (const { id } of await threads.list()) {
    const thread = await threads.get(id);
    const views = {
      export: await thread.export(),
      logs: await thread.logs(),
      stream: await collect(thread.stream({ untilRest: true })),
      messages: await thread.messages(),
      session: await thread.session(),
      runs: await thread.runs(),
      calls: await thread.calls(),
      status: await thread.status(),
      children: await thread.children(),
    };
    for (const [view, value] of Object.entries(views)) told[view] = (told[view] ?? "") + JSON.stringify(value);
  }
  return told;
}

/** What the process prints from now on until the test is over. */
export function printing(): () => Told {
  const lines: string[] = [];
  const keep = (...words: unknown[]) => lines.push(words.map((word) => inspected(word)).join(" "));
  const spies = [
    ...(["log", "info", "warn", "error", "debug"] as const).map((name) => vi.spyOn(console, name)),
    ...[vi.spyOn(process.stdout, "write"), vi.spyOn(process.stderr, "write")],
  ];
  for (const spy of spies) spy.mockImplementation((...words: unknown[]) => keep(...words) > 0);
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return () => ({ printed: lines.join("\n") });
}

/** What was told of as errors, to the last property. */
export function reported(errors: readonly unknown[]): Told {
  return { "error reports": errors.map(inspected).join("\n") };
}

/** A model that speaks by a script, and everything that it was asked with. */
export function recorded(...script: readonly ScriptedStep[]): { readonly model: Model; asked(): Told } {
  const asked: string[] = [];
  const scripted = scriptedModel(script);
  const model: Model = (messages, context, options) => {
    const { signal: _signal, onDelta: _told, ...rest } = options;
    asked.push(inspected({ messages, context, ...rest }));
    return scripted(messages, context, options);
  };
  return { model, asked: () => ({ "requests to models": asked.join("\n") }) };
}

function inspected(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  const options = { depth: 20, maxStringLength: null, maxArrayLength: null, breakLength: Number.POSITIVE_INFINITY };
  return `${inspect(value, { ...options, showHidden: true })}\n${json(value)}`;
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

function bytesOf(address: Address): string {
  if (!("path" in address)) return "";
  const files = ["", "-wal", "-journal"].map((suffix) => `${address.path}${suffix}`).filter((file) => existsSync(file));
  return files.map((file) => readFileSync(file, "latin1")).join("");
}
