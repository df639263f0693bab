// The streams that are open, by who opened them: nobody holds more than a few, and a token that was revoked holds none.
import type { ServerResponse } from "node:http";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Holdfast } from "../holdfast.ts";
import { isLive } from "./authenticate.ts";
import { joinPulse, leavePulse } from "./pulse.ts";

export interface OpenStreams {
  isFull(principal: Principal): boolean;
  /** Keeps a place for a stream that is about to be opened, until the returned function is called; undefined when full. */
  hold(principal: Principal): (() => void) | undefined;
  /** Counts a stream until its connection is closed. */
  add(principal: Principal, outgoing: ServerResponse): void;
  close(): void;
}

/** How often it is looked whether those who read still may. */
const LOOK_MS = 30_000;

export function createOpenStreams(
  holdfast: Pick<Holdfast, "tokens">,
  { max = 100, lookMs = LOOK_MS }: { readonly max?: number | undefined; readonly lookMs?: number } = {},
): OpenStreams {
  const open = new Map<string, Set<ServerResponse>>();
  const held = new Map<string, number>();

  function isFull(reader: string): boolean {
    return (open.get(reader)?.size ?? 0) + (held.get(reader) ?? 0) >= max;
  }

  async function look(): Promise<void> {
    for (const [reader, streams] of open) {
      const tokenId = Number(reader);
      if (Number.isNaN(tokenId)) continue;
      try {
        if (await isLive(holdfast, tokenId)) continue;
        for (const stream of streams) stream.destroy();
      } catch {
        // The database is away for a moment; the next look will tell.
      }
    }
  }

  const looking = { beat: () => void look() };
  joinPulse(lookMs, looking);
  return {
    isFull: (principal) => isFull(readerOf(principal)),
    hold(principal) {
      const reader = readerOf(principal);
      if (isFull(reader)) return undefined;
      held.set(reader, (held.get(reader) ?? 0) + 1);
      return () => {
        const left = (held.get(reader) ?? 1) - 1;
        if (left === 0) held.delete(reader);
        else held.set(reader, left);
      };
    },
    add(principal, outgoing) {
      if (outgoing.destroyed) return;
      const reader = readerOf(principal);
      const streams = open.get(reader) ?? new Set();
      open.set(reader, streams.add(outgoing));
      outgoing.once("close", () => {
        streams.delete(outgoing);
        if (streams.size === 0 && open.get(reader) === streams) open.delete(reader);
      });
    },
    close: () => leavePulse(lookMs, looking),
  };
}

/** The number of the token, where there is one. */
function readerOf({ token_id, audience_id, acting_user_id }: Principal): string {
  return token_id === null ? `${audience_id ?? "user"} ${acting_user_id}` : String(token_id);
}
