// What threads leave behind and make, for tests: everything that a test does not care about has a value.
import { createHash } from "node:crypto";
import type { ChildLink, NewThread } from "../new-thread.ts";
import type { Stores } from "../stores.ts";
import type { NewEffect, NewFile, Write } from "../write.ts";
import { anEntry, aThread } from "./a-commit.ts";

export function aLink(parts: Partial<ChildLink> = {}): ChildLink {
  return {
    agent: "support",
    relationship: "helper",
    side: "a",
    title: "Helper",
    description: "Helps.",
    blocking: false,
    resumable: true,
    receives_messages: "side_a",
    parent_communication: "implicit",
    thread_name: "helper 1",
    spawn_group: null,
    request_id: null,
    ...parts,
  };
}

export function aChild(parentId: string, parts: Partial<NewThread> = {}, link: Partial<ChildLink> = {}): NewThread {
  return aThread({ parent_id: parentId, child: aLink(link), child_status: "running", ...parts });
}

/** A child that is there. */
export async function openChild(
  { threads }: Stores,
  parentId: string,
  parts: Partial<NewThread> = {},
  link: Partial<ChildLink> = {},
): Promise<string> {
  const { thread } = await threads.open(aChild(parentId, parts, link));
  return thread.id;
}

export function aFile(path: string, text: string, parts: Partial<NewFile> = {}): NewFile {
  const content = new TextEncoder().encode(text);
  return {
    path,
    name: path.split("/").at(-1) ?? "",
    mime_type: "text/plain",
    size: content.byteLength,
    is_directory: false,
    hash: hashOf(content),
    width: null,
    height: null,
    metadata: null,
    content,
    ...parts,
  };
}

export function hashOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

export function anEffect(parts: Partial<NewEffect> = {}): NewEffect {
  const id = crypto.randomUUID();
  return { id, name: "remind", args: "sealed", after: 0, manual_run: false, replayed_from: null, ...parts };
}

/** Writes them on their own, which has to succeed. */
export async function written({ writes }: Stores, threadId: string, ...all: readonly Write[]): Promise<void> {
  const outcome = await writes.apply(threadId, all);
  if (outcome !== "written") throw new Error(`Nothing was written: ${outcome}.`);
}

export const aStop = () =>
  anEntry({ kind: "stop", operation: "terminate", idempotency_key: "terminate", urgent: true });
