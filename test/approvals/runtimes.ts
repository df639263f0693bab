// The real thing of the test: a database, the runtimes on it, and what can be seen and written past them.
import type { Backend, Row, SqlDriver } from "../../src/backend/sql-driver.ts";
import { sqlite } from "../../src/backend/sqlite/sqlite.ts";
import type { HoldfastOptions } from "../../src/holdfast.ts";
import { type HeldClock, heldClock } from "../../src/testing/held-clock.ts";
import type { ThreadHandle } from "../../src/threads/thread.ts";
import type { World } from "../databases.ts";
import { type MortalRuntime, openMortal } from "../mortal-runtime.ts";
import { createShop, type Shop, threads, trust } from "./shop.ts";

/** A request as the database has it. */
export type RequestRow = {
  readonly id: string;
  readonly thread_id: string;
  readonly run: number;
  readonly call: number;
  readonly kind: string;
  readonly tool_name: string;
  readonly status: string;
  readonly shown: string;
  readonly answer: string | null;
  readonly resolver: string | null;
  readonly binding: string;
  readonly expires_at: number | null;
};

type CallRow = { readonly thread_id: string; readonly run: number; readonly number: number; readonly key: string };

const NEW_YEAR = Date.UTC(2030, 0, 1);

/** Dies at a point that is still so many points away. */
type Fuse = { left: number };

type Running = { readonly runtime: MortalRuntime; readonly clock: HeldClock | undefined; readonly fuse: Fuse };

/** Thrown to whoever wants something while the runtimes are closed. */
export class NothingRuns extends Error {}

export class Runtimes {
  readonly shop: Shop = createShop();
  readonly threadIds: string[] = [];
  readonly isShared: boolean;
  /** The number of the rule that is deployed. */
  rule = 0;
  /** Whether nobody runs threads. */
  isIdle = false;
  #running: Running[] = [];
  #now = NEW_YEAR;
  #outside: Promise<SqlDriver> | undefined;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.isShared = world.backend.name === "postgres";
  }

  /** Opens as many runtimes as the database allows, up to two; `runs` as in their options. */
  async open(options: Pick<HoldfastOptions, "runs"> = {}): Promise<void> {
    this.isIdle = options.runs === false;
    while (this.#running.length < (this.isShared ? 2 : 1)) this.#running.push(await this.#start(options));
    if (this.threadIds.length > 0) return;
    for (const { key, user, site } of threads) {
      const principal = {
        acting_user_id: user,
        effective_agent_id: "shop",
        auth_source: "user",
        request_context: "chat",
      };
      const workspace = { workspace_type: "site", workspace_id: site };
      const { id } = await this.runtime(0).threads.open(key, { agent: "shop", principal, workspace });
      this.threadIds.push(id);
    }
  }

  async #start(options: Pick<HoldfastOptions, "runs">): Promise<Running> {
    const clock = this.isShared ? undefined : heldClock(this.#now);
    const fuse: Fuse = { left: Number.POSITIVE_INFINITY };
    const isOver = () => --fuse.left < 0;
    const agents = [this.shop.agentUnder(this.rule)];
    const runtime = await openMortal({ backend: this.#backend(clock) }, agents, isOver, { trust, ...options });
    return { runtime, clock, fuse };
  }

  #backend(clock: HeldClock | undefined): Backend {
    const { address, backend } = this.#world;
    // Every runtime has a clock of its own: a dead one must not keep anybody waiting who moves it.
    return clock && "path" in address ? sqlite(address.path, { clock, synchronous: "normal" }) : backend;
  }

  /** One of those that run, whichever the number. */
  runtime(number: number): MortalRuntime {
    const running = this.#running[number % this.#running.length];
    if (!running) throw new NothingRuns();
    return running.runtime;
  }

  async thread(index: number, number = 0): Promise<ThreadHandle> {
    return await this.runtime(number).threads.get(this.threadIds[index] ?? "");
  }

  /** Stops a thread; where nobody runs it, the wish to is left for whoever does. */
  async stop(index: number, number: number): Promise<void> {
    const thread = await this.thread(index, number);
    if (!this.isIdle) return void (await thread.stop());
    const patience = new AbortController();
    const stopping = thread.stop({ signal: patience.signal }).catch(() => undefined);
    const left = `select id from inbox where thread_id = '${thread.id}' and kind = 'stop' and drained_at is null`;
    while ((await this.sql(left)).length === 0) await new Promise(setImmediate);
    patience.abort();
    await stopping;
  }

  /** Closes them all, in good order. */
  async close(): Promise<void> {
    const closing = this.#running.splice(0);
    await Promise.all(closing.map(({ runtime }) => runtime.close()));
  }

  /** Lets one of them die after so many points. */
  light(points: number): void {
    const [first] = this.#running;
    if (first) first.fuse.left = points;
  }

  /** Has it die now, if it has not yet, and opens another in its place. */
  async replaceDead(): Promise<void> {
    const [first] = this.#running.splice(0, 1);
    await first?.runtime.die();
    await this.open();
  }

  /** Lets time pass; where nobody holds the clock, the time of everything that waits is up. */
  async pass(milliseconds: number): Promise<void> {
    this.#now += milliseconds;
    if (!this.isShared) {
      await Promise.all(this.#running.map(({ clock }) => clock?.advance(milliseconds)));
      return;
    }
    await this.sql(
      "update requests set expires_at = 1 where status = 'pending' and expires_at is not null returning 1",
    );
    // Nobody was told, so each thread is given a reason to look.
    for (const index of this.threadIds.keys()) await (await this.thread(index)).queueMessage("Some time has passed.");
  }

  isPast(time: number | null): boolean {
    return time !== null && time <= (this.isShared ? Date.now() : this.#now) * 1_000;
  }

  /** Past everything that a runtime looks after. */
  async sql(text: string): Promise<readonly Row[]> {
    if (!this.isShared) return await this.#world.sql(text);
    // A connection for each statement would take most of the time of the test.
    this.#outside ??= this.#world.backend.open();
    return await (await this.#outside).all(text);
  }

  /** The end: nothing is open any more. */
  async leave(): Promise<void> {
    await this.close();
    await (await this.#outside)?.close();
  }

  async rows(): Promise<ReadonlyMap<string, RequestRow>> {
    const found = await this.sql(
      "select id, thread_id, run, call, kind, tool_name, status, shown, answer, resolver, binding, expires_at from requests order by created_at, id",
    );
    const rows = found.map((row) => ({
      ...row,
      run: Number(row.run),
      call: Number(row.call),
      expires_at: row.expires_at === null ? null : Number(row.expires_at),
    }));
    return new Map((rows as unknown as RequestRow[]).map((row) => [row.id, row]));
  }

  async calls(): Promise<readonly CallRow[]> {
    const found = await this.sql("select thread_id, run, number, idempotency_key as key from calls");
    return found.map((row) => ({ ...row, run: Number(row.run), number: Number(row.number) })) as unknown as CallRow[];
  }

  /** Until no thread has anything left to do by itself. `except`: requests that nobody waits for, whatever they say. */
  async settle(except: ReadonlySet<string>): Promise<void> {
    for (;;) {
      for (const index of this.threadIds.keys()) await (await this.thread(index)).wait();
      const isUndone = ({ id, status, expires_at }: RequestRow) =>
        !except.has(id) && (status === "answered" || (status === "pending" && this.isPast(expires_at)));
      const isDone = ![...(await this.rows()).values()].some(isUndone);
      // A thread that waits may still be looked at, because of a message that it does not take in yet.
      const held = await this.sql("select id from threads where lease_by is not null");
      if (isDone && held.length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}
