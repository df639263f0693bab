// What is known of a child before there is one.
import type { Thread } from "../../backend/thread-rows.ts";
import type { Write } from "../../backend/write.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { CopiedFile } from "../../contracts/standard/child-messages.ts";
import type { Side } from "../../contracts/standard/side.ts";
import type { Relationship } from "../definitions/relationship.ts";
import type { Host } from "../host.ts";
import { type ThreadVariables, variablesOfThread } from "./thread-variables.ts";

/** What a child takes from its parent, which may itself not be stored yet. */
export type Parent = {
  readonly thread: Pick<Thread, "id" | "parent_id" | "budget" | "user_id">;
  readonly variables: ThreadVariables;
  /** How many stand above it, of whatever kind. */
  readonly depth: number;
};

export type ChildOrder = {
  readonly id: string;
  readonly parent: Parent;
  readonly relationship: Relationship;
  /** The side of the parent that it belongs to. */
  readonly side: Side;
  readonly name: string;
  /** Null: it is created and waits to be written to. */
  readonly message: string | null;
  readonly arguments: JsonMap | null;
  readonly files: CopiedFiles;
  /** Variables that it is given. */
  readonly given: Readonly<Record<string, string>>;
  /** What the parent waits on until it is done. */
  readonly requestId: string | null;
  /** The message that asked for it. */
  readonly spawnGroup: string | null;
};

/** Files of the parent that are copied to the child when it is created. */
export type CopiedFiles = { readonly writes: readonly Write[]; readonly copied: readonly CopiedFile[] };

export const noFiles: CopiedFiles = { writes: [], copied: [] };

/** Deeper trees are refused: agents that create each other would never come to an end. */
export const DEEPEST = 16;

/** A stored thread as a parent, with what is about to be written for it. */
export async function parentOf(host: Host, thread: Parent["thread"], writes: readonly Write[]): Promise<Parent> {
  const variables = await variablesOfThread(host, thread.id, writes);
  const { parent_id } = thread;
  const depth = parent_id === null ? 0 : 1 + (await host.stores.threads.ancestors(parent_id)).length;
  return { thread, variables, depth };
}
