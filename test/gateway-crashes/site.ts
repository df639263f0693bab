// Where cases take place: databases of one kind, and the world outside, which survives every gateway.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fate } from "../../src/testing/crash-points.ts";
import { type EffectLedger, startEffectLedger } from "../../src/testing/effect-ledger.ts";
import type { Child } from "../../src/testing/start-child.ts";
import { copyReadyFile, giveBack, readySchema } from "../ready-databases.ts";
import type { Database } from "../survives-a-crash/database.ts";
import { startProgram } from "../survives-a-crash/start-child.ts";
import type { GatewayOrder } from "./order.ts";
import { type Pages, startPages } from "./pages.ts";
import { type Reading, readDatabase } from "./reading.ts";
import type { GatewayScenario, SeenExecution } from "./scenario.ts";

/** Far more than any scenario takes on a busy machine; one that is not over then never will be. */
export const PATIENCE_MS = 240_000;

export type Site = {
  readonly kind: Database["kind"];
  readonly ledger: EffectLedger;
  readonly pages: Pages;
  close(): Promise<void>;
};

export async function openSite(kind: Database["kind"]): Promise<Site> {
  const ledger = await startEffectLedger();
  const pages = await startPages();
  return {
    ...{ kind, ledger, pages },
    async close() {
      await ledger.close();
      await pages.close();
    },
  };
}

/** What belongs to one case. */
export type Stage = {
  readonly name: string;
  readonly database: Database;
  readonly workspaces: string;
  /** Starts a gateway that plays the scenario. */
  start(fate: Fate): Child;
  /** Only while no process has the database open, on SQLite. */
  read<Value>(look: (reading: Reading) => Promise<Value>): Promise<Value>;
  executions(): readonly SeenExecution[];
  /** Kills what is left of its processes, and removes everything. */
  clear(): Promise<void>;
};

const program = new URL("child.ts", import.meta.url);

export async function openStage({ kind, ledger, pages }: Site, scenario: GatewayScenario): Promise<Stage> {
  const name = `case-${randomBytes(6).toString("hex")}`;
  const folder = await mkdtemp(join(tmpdir(), "holdfast-gateway-crash-"));
  const workspaces = join(folder, "workspaces");
  const { database, remove } = kind === "sqlite" ? await newFile(folder) : await newSchema();
  const order = { name, scenario: scenario.name, database, workspaces, ledger: ledger.url, page: pages.pageOf(name) };
  const children: Child[] = [];
  return {
    ...{ name, database, workspaces },
    start(fate) {
      const child = startProgram(program, { ...order, ...fate } satisfies GatewayOrder);
      children.push(child);
      return child;
    },
    read: (look) => readDatabase(database, look),
    executions: () =>
      ledger.effects().filter((effect): effect is SeenExecution => {
        return effect.name === "execution" && effect.case === name;
      }),
    async clear() {
      for (const child of children) child.signal("SIGKILL");
      await Promise.all(children.map((child) => child.ended(PATIENCE_MS)));
      await remove();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type NewDatabase = { readonly database: Database; remove(): Promise<void> };

async function newFile(folder: string): Promise<NewDatabase> {
  const path = join(folder, "gateway.db");
  await copyReadyFile(path);
  return { database: { kind: "sqlite", path }, remove: async () => {} };
}

async function newSchema(): Promise<NewDatabase> {
  const schema = await readySchema();
  const { url, schema: name } = schema;
  return { database: { kind: "postgres", url, schema: name }, remove: () => giveBack(schema) };
}
