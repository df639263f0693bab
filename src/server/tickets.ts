// Tickets for streams: a browser can only put a URL into an EventSource, and a token in a URL ends up in logs. A ticket is
// good for one path, once, for half a minute, and only in the process that has given it out.
import { randomBytes } from "node:crypto";
import type { Principal } from "../contracts/trust/principal.ts";

export interface Tickets {
  /** Undefined when the caller holds too many that were not used. */
  issue(principal: Principal, pathname: string): string | undefined;
  /** Who comes with the ticket; undefined when it is not good for this path, or not any more. It is used up either way. */
  redeem(ticket: string, pathname: string): Principal | undefined;
}

export const TICKET_SECONDS = 30;
/** Tickets that were not used, of everybody and of one. */
const MOST = 100_000;
const MOST_OF_ONE = 1_000;

type Ticket = { readonly principal: Principal; readonly pathname: string; readonly expiresAt: number };

export function createTickets(now: () => number = Date.now): Tickets {
  /** In the order in which they expire. */
  const tickets = new Map<string, Ticket>();
  const held = new Map<string, number>();

  function drop(key: string, { principal }: Ticket): void {
    tickets.delete(key);
    const owner = ownerOf(principal);
    const left = (held.get(owner) ?? 1) - 1;
    if (left > 0) held.set(owner, left);
    else held.delete(owner);
  }

  function sweep(): void {
    const time = now();
    for (const [key, ticket] of tickets) {
      if (ticket.expiresAt > time) return;
      drop(key, ticket);
    }
  }

  return {
    issue(principal, pathname) {
      sweep();
      const owner = ownerOf(principal);
      const count = held.get(owner) ?? 0;
      if (tickets.size >= MOST || count >= MOST_OF_ONE) return undefined;
      const ticket = `hft_${randomBytes(32).toString("base64url")}`;
      tickets.set(ticket, { principal, pathname, expiresAt: now() + TICKET_SECONDS * 1_000 });
      held.set(owner, count + 1);
      return ticket;
    },
    redeem(key, pathname) {
      const ticket = tickets.get(key);
      if (!ticket) return undefined;
      drop(key, ticket);
      return ticket.expiresAt > now() && ticket.pathname === pathname ? ticket.principal : undefined;
    },
  };
}

function ownerOf({ token_id, acting_user_id, audience_id }: Principal): string {
  return `${token_id} ${acting_user_id} ${audience_id}`;
}
