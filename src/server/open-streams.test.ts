import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../../test/eventually.ts";
import * as principals from "../contracts/trust/principal.ts";
import type { Holdfast } from "../holdfast.ts";
import { createOpenStreams } from "./open-streams.ts";

/** A connection, as far as it is looked at here. */
class Connection extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

function newConnection(): Connection & ServerResponse {
  return new Connection() as Connection & ServerResponse;
}

const alice = principals.agentToken(2, "helper", 5);
const bob = principals.agentToken(3, "helper", 6);
const live = { revoked_at: null, expires_at: null };

/** `found`: the tokens there are, by their numbers. */
function open(found: Readonly<Record<number, object>>, max = 2) {
  const tokens = { get: async (id: number) => found[id] } as unknown as Holdfast["tokens"];
  const streams = createOpenStreams({ tokens }, { max, lookMs: 5 });
  onTestFinished(streams.close);
  return streams;
}

it("counts the streams of each token until they are closed", () => {
  const streams = open({ 5: live, 6: live });
  const [first, second] = [newConnection(), newConnection()];
  streams.add(alice, first);
  expect(streams.isFull(alice)).toBe(false);
  streams.add(alice, second);
  expect([streams.isFull(alice), streams.isFull(bob)]).toEqual([true, false]);
  first.destroy();
  expect(streams.isFull(alice)).toBe(false);
});

it("closes the streams of a token that was revoked, expired or deleted, and of no other", async () => {
  const tokens: Record<number, object> = { 5: live, 6: live };
  const streams = open(tokens, 10);
  const [ofAlice, ofBob] = [newConnection(), newConnection()];
  streams.add(alice, ofAlice);
  streams.add(bob, ofBob);
  tokens[5] = { ...live, revoked_at: "2026-01-01T00:00:00Z" };
  await eventually(() => expect(ofAlice.destroyed).toBe(true));
  expect(ofBob.destroyed).toBe(false);
  tokens[6] = { ...live, expires_at: "2020-01-01T00:00:00Z" };
  await eventually(() => expect(ofBob.destroyed).toBe(true));
});
