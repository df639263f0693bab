// How many threads of one tenant a worker runs at the same time. Those for which there is no place are put back as they
// were: another process may have one.
import type { Claimed, Engine } from "../backend/engine.ts";

export class TenantPlaces {
  readonly #engine: Engine;
  readonly #most: number | undefined;
  /** The tenants of the threads that have a place. */
  readonly #tenants = new Map<string, string>();
  readonly #taken = new Map<string, number>();

  /** Without a number there is room for all. */
  constructor(engine: Engine, most: number | undefined) {
    this.#engine = engine;
    this.#most = most;
  }

  /** The tenants that have all their places taken. */
  get full(): readonly string[] {
    const most = this.#most;
    if (most === undefined) return [];
    return [...this.#taken].filter(([, taken]) => taken >= most).map(([tenant]) => tenant);
  }

  /** Those that have a place now. */
  async admit(claimed: readonly Claimed[]): Promise<readonly Claimed[]> {
    if (this.#most === undefined || claimed.length === 0) return claimed;
    const tenants = await this.#engine.tenants(claimed.map(({ id }) => id));
    const admitted: Claimed[] = [];
    for (const thread of claimed) {
      const tenant = tenants.get(thread.id);
      if (tenant === undefined || this.#take(thread.id, tenant, this.#most)) admitted.push(thread);
      else await this.#engine.putBack(thread);
    }
    return admitted;
  }

  /** Gives the place of a thread back, if it had one. */
  left(threadId: string): void {
    const tenant = this.#tenants.get(threadId);
    if (tenant === undefined) return;
    this.#tenants.delete(threadId);
    const taken = (this.#taken.get(tenant) ?? 1) - 1;
    if (taken === 0) this.#taken.delete(tenant);
    else this.#taken.set(tenant, taken);
  }

  #take(threadId: string, tenant: string, most: number): boolean {
    // Taken again under another lease: it is still one thread.
    if (this.#tenants.has(threadId)) return true;
    const taken = this.#taken.get(tenant) ?? 0;
    if (taken >= most) return false;
    this.#tenants.set(threadId, tenant);
    this.#taken.set(tenant, taken + 1);
    return true;
  }
}
