// A runtime behind its HTTP server, for tests of the doors that chats come through.
import { onTestFinished } from "vitest";
import type { Backend } from "../src/backend/sql-driver.ts";
import { sqlite } from "../src/backend/sqlite/sqlite.ts";
import { createHoldfast, type Holdfast } from "../src/holdfast.ts";
import { serve } from "../src/server/serve.ts";
import type { Agent } from "../src/threads/agent.ts";
import { secretKey } from "./databases.ts";

export type ChatWorld = {
  readonly holdfast: Holdfast;
  readonly url: string;
  /** The token of an administrator, who decides about what agents propose. */
  readonly token: string;
  /** The token of a user who was given the first agent, and nothing more. */
  tokenOf(user: number): Promise<string>;
  close(): Promise<void>;
};

const OWNER = 1;

/** `database`: the file that it is in, or one with something in the way; in memory unless given. */
export async function chatWorld(
  agents: Agent | readonly Agent[],
  database: string | Backend = ":memory:",
): Promise<ChatWorld> {
  const all = [agents].flat();
  const backend = typeof database === "string" ? sqlite(database) : database;
  const holdfast = await createHoldfast({
    ...{ backend, agents: all, secretKey, drainsOnSignal: false, onError: () => undefined },
    trust: { administrators: [OWNER] },
  });
  const server = await serve(holdfast, { port: 0 });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= server.close().then(() => holdfast.close());
    return closed;
  };
  onTestFinished(close);

  async function tokenFor(owner_user_id: number): Promise<string> {
    return (await holdfast.tokens.create({ agent: "visitor", owner_user_id })).token;
  }

  return {
    holdfast,
    url: server.url,
    token: await tokenFor(OWNER),
    async tokenOf(user) {
      await holdfast.grants.grant({ agent: all[0]?.slug ?? "", user_id: user, role: "operator" });
      return await tokenFor(user);
    },
    close,
  };
}
