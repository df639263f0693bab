// Operations called as doors call them, for tests: a runtime of its own, and somebody who calls.
import { onTestFinished } from "vitest";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import type { JsonMap } from "../src/contracts/json.ts";
import * as principals from "../src/contracts/trust/principal.ts";
import { createHoldfast, type Holdfast, type HoldfastOptions } from "../src/holdfast.ts";
import { secretKey } from "./databases.ts";

/** The one user who may do everything. */
export const ADMINISTRATOR = 1;

// biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
type Answer = any;

/** What an operation answers when it is called by somebody. */
export type Calls = (name: string, input?: JsonMap, key?: string) => Promise<Answer>;

export type DeskWorld = {
  readonly holdfast: Holdfast;
  /** As a user, with whatever else is to be known of the caller. */
  as(user: number, more?: object): Calls;
  /** Gives a user an agent to talk with. */
  grant(agent: string, ...users: readonly number[]): Promise<void>;
};

/** A database of its own in memory unless given. */
type WorldOptions = Omit<HoldfastOptions, "backend"> & Partial<Pick<HoldfastOptions, "backend">>;

export async function deskWorld(options: WorldOptions): Promise<DeskWorld> {
  const holdfast = await createHoldfast({
    backend: sqlite(":memory:"),
    secretKey,
    drainsOnSignal: false,
    ...options,
    trust: { administrators: [ADMINISTRATOR], ...options.trust },
  });
  onTestFinished(() => holdfast.close());
  return {
    holdfast,
    as(user, more = {}) {
      const principal = principals.fromArray({
        ...{ acting_user_id: user, effective_agent_id: "any", auth_source: "user", request_context: "rest" },
        ...more,
      });
      return (name, input = {}, key) =>
        holdfast.abilities.call(name, input, { principal, door: "http", ...(key !== undefined && { key }) });
    },
    async grant(agent, ...users) {
      for (const user_id of users) await holdfast.grants.grant({ agent, user_id, role: "operator" });
    },
  };
}

/** A ceiling that lets nothing pass but these. */
export function ceiling(user_id: number, ...allowed_capabilities: readonly string[]): object {
  return { capability_ceiling: { user_id, allowed_capabilities } };
}
