import { describe, expect, it } from "vitest";
import * as principals from "../contracts/trust/principal.ts";
import { createTickets } from "./tickets.ts";

const alice = principals.agentToken(2, "helper", 5);
const bob = principals.agentToken(3, "helper", 6);

describe("a ticket", () => {
  it("is good once, for the path that it was made for", () => {
    const tickets = createTickets();
    const ticket = tickets.issue(alice, "/threads/a/stream") ?? "";
    expect(tickets.redeem(ticket, "/threads/a/stream")).toBe(alice);
    expect(tickets.redeem(ticket, "/threads/a/stream")).toBeUndefined();
  });

  it("is used up by the attempt to use it elsewhere", () => {
    const tickets = createTickets();
    const ticket = tickets.issue(alice, "/threads/a/stream") ?? "";
    expect(tickets.redeem(ticket, "/threads/b/stream")).toBeUndefined();
    expect(tickets.redeem(ticket, "/threads/a/stream")).toBeUndefined();
  });

  it("is good for half a minute", () => {
    let now = 0;
    const tickets = createTickets(() => now);
    const [early = "", late = ""] = [tickets.issue(alice, "/stream"), tickets.issue(alice, "/stream")];
    now = 29_999;
    expect(tickets.redeem(early, "/stream")).toBe(alice);
    now = 30_000;
    expect(tickets.redeem(late, "/stream")).toBeUndefined();
  });

  it("cannot be hoarded, and those of one keep nobody else from theirs", () => {
    let now = 0;
    const tickets = createTickets(() => now);
    for (let count = 0; count < 1_000; count++) tickets.issue(alice, "/stream");
    expect(tickets.issue(alice, "/stream")).toBeUndefined();
    expect(tickets.issue(bob, "/stream")).toBeDefined();
    now = 30_000;
    expect(tickets.issue(alice, "/stream")).toBeDefined();
  });
});
