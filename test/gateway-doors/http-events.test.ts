// The event stream over HTTP: who may follow it, how it goes on behind the last id, and that nothing is lost or told twice.
import { describe, expect, it } from "vitest";
import { eachDatabase } from "../databases.ts";
import { eventually } from "../eventually.ts";
import { shell } from "../plugin-folders.ts";
import { readEvents, type StreamFrame } from "./event-reader.ts";
import { openServed, type ServedGateway, serveGateway } from "./served-gateway.ts";

const OK = { script: shell(`echo '{"status":"ok","result":"good"}'`) };
const config = { pipelines: [{ name: "p", on: "x.y", steps: [{ uses: "echoes" }] }] };

const emit = async (served: ServedGateway, count: number) => {
  const ids: string[] = [];
  for (let n = 0; n < count; n++)
    ids.push(...(await served.gateway.emit({ type: "x.y", payload: {} }, { via: "api" })).job_ids);
  return ids;
};

const idsOf = (frames: readonly StreamFrame[]) => frames.map(({ id }) => Number(id));

const stored = async ({ gateway }: ServedGateway) => (await gateway.events.read(0, 10_000)).map(({ id }) => id);

describe("GET /events", () => {
  it("tells what is stored, then what happens, with the id and the type of each", async () => {
    const served = await serveGateway({ plugins: { echoes: OK }, config });
    await emit(served, 1);
    await served.untilIdle();
    const reader = await readEvents(served.url, { token: await served.token("gateway.events") });
    expect(reader.status).toBe(200);
    expect(reader.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const isCompleted = ({ event }: StreamFrame) => event === "job.completed";
    const first = await reader.until(isCompleted);
    const begun = ["pipeline.enqueued", "job.enqueued", "job.started", "plugin.spawned"];
    expect(first.map(({ event }) => event)).toEqual([...begun, "job.completed"]);
    for (const { id, event, data } of first) {
      expect(JSON.parse(data)).toMatchObject({ id, type: event, at: expect.any(String), data: expect.any(Object) });
      expect(data).not.toContain("\n");
    }
    await emit(served, 1);
    const second = await reader.until(isCompleted);
    expect(idsOf([...first, ...second])).toEqual(await stored(served));
    reader.leave();
  });

  it("begins behind Last-Event-ID, which counts more than ?after, or with what is yet to come", async () => {
    const served = await serveGateway({ plugins: { echoes: OK }, config });
    const token = await served.token();
    await emit(served, 3);
    await served.untilIdle();
    const all = await stored(served);
    const last = ({ id }: StreamFrame) => Number(id) === all.at(-1);
    const behind = await readEvents(served.url, {
      token,
      path: "/events?after=0",
      headers: { "last-event-id": String(all[4]) },
    });
    expect(idsOf(await behind.until(last))).toEqual(all.slice(5));
    const after = await readEvents(served.url, { token, path: `/events?after=${all[1]}` });
    expect(idsOf(await after.until(last))).toEqual(all.slice(2));
    const now = await readEvents(served.url, { token, path: "/events?after=now" });
    // The first frame comes once something happens.
    const next = now.until(() => true);
    await emit(served, 1);
    expect(Number((await next)[0]?.id)).toBe((all.at(-1) ?? 0) + 1);
    for (const odd of ["-1", "1.5", "x", "1e3", "9".repeat(16), "0x10", "1 2"]) {
      const refused = await served.ask(token, "/events", { headers: { "last-event-id": odd } });
      expect(refused, odd).toMatchObject({
        status: 400,
        body: { code: "invalid_stream_position", error: expect.any(String) },
      });
    }
    for (const reader of [behind, after, now]) reader.leave();
  });

  it("refuses an id that no event has yet, such as one of another database, by every way to ask", async () => {
    const served = await serveGateway({ plugins: { echoes: OK }, config });
    const token = await served.token();
    const refusal = { status: 400, body: { code: "invalid_stream_position", error: expect.any(String) } };
    expect(await served.ask(token, "/events?after=1")).toMatchObject(refusal);
    await emit(served, 1);
    await served.untilIdle();
    const last = (await stored(served)).at(-1) ?? 0;
    for (const after of [String(last + 1), "999999999999999"]) {
      expect(await served.ask(token, `/events?after=${after}`)).toMatchObject(refusal);
      expect(await served.ask(token, "/events", { headers: { "last-event-id": after } })).toMatchObject(refusal);
      const listed = await served.ask(token, "/abilities/holdfast/list-gateway-events", { json: { after } });
      expect(listed).toMatchObject({ status: 400, body: { code: "invalid_stream_position" } });
    }
    const reader = await readEvents(served.url, { token, path: `/events?after=${last}` });
    const next = reader.until(() => true);
    await emit(served, 1);
    expect(Number((await next)[0]?.id)).toBe(last + 1);
    reader.leave();
  });

  it("scenario 45: is followed with a ticket by a page that can send no header: once, and there alone", async () => {
    const served = await serveGateway({ plugins: { echoes: OK }, config });
    await emit(served, 1);
    const token = await served.token("gateway.events");
    const ticket = async (pathname: string) =>
      (await served.ask(token, "/auth/stream-ticket", { json: { pathname } })).body.ticket;
    const good = await ticket("/events");
    const reader = await readEvents(served.url, { path: `/events?ticket=${good}` });
    expect(reader.status).toBe(200);
    expect(await reader.until(() => true)).toHaveLength(1);
    reader.leave();
    expect((await served.ask(undefined, `/events?ticket=${good}`)).status).toBe(401);
    expect((await served.ask(undefined, `/events?ticket=${await ticket("/threads/t/stream")}`)).status).toBe(401);
    expect((await served.ask(undefined, `/events?ticket=${await ticket("/events")}`, { method: "POST" })).status).toBe(
      401,
    );
    expect((await served.ask(undefined, `/jobs?ticket=${await ticket("/events")}`)).status).toBe(401);
    const jobs = await served.token("gateway.jobs");
    const others = (await served.ask(jobs, "/auth/stream-ticket", { json: { pathname: "/events" } })).body.ticket;
    expect((await served.ask(undefined, `/events?ticket=${others}`)).status).toBe(403);
    expect(served.requests.join("\n")).not.toContain(good);
  });

  it("is one of the streams that a token may hold", async () => {
    const served = await serveGateway({ server: { maxStreams: 2 } });
    const token = await served.token();
    const [first, second] = await Promise.all([readEvents(served.url, { token }), readEvents(served.url, { token })]);
    const refused = await served.ask(token, "/events");
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_streams", error: expect.any(String) } });
    first.leave();
    await eventually(async () => {
      const again = await readEvents(served.url, { token });
      again.leave();
      expect(again.status).toBe(200);
    });
    second.leave();
  });

  it("ends when the server ends, and says so to nobody but its readers", async () => {
    const served = await serveGateway({ plugins: { echoes: OK }, config });
    await emit(served, 1);
    await served.untilIdle();
    const reader = await readEvents(served.url, { token: await served.token() });
    const read = reader.rest();
    await served.close();
    expect(idsOf(await read).filter((id) => !Number.isNaN(id))).toHaveLength(5);
  });
});

eachDatabase((newWorld) => {
  describe("a reader of events", () => {
    it("that comes back with the last id, again and again and over a restart, sees each event once and in order", async () => {
      const world = await newWorld();
      const plugins = { echoes: OK };
      const before = await serveGateway({ plugins, config, backend: world.backend });
      const seen: number[] = [];
      const follow = async (served: ServedGateway, frames: number) => {
        const headers = seen.length > 0 ? { "last-event-id": String(seen.at(-1)) } : {};
        const reader = await readEvents(served.url, { token: await served.token(), headers });
        let left = frames;
        seen.push(...idsOf(await reader.until(() => --left === 0)));
        reader.leave();
      };
      const emitting = emit(before, 6);
      // Cut while events are committed.
      await follow(before, 2);
      await follow(before, 3);
      await emitting;
      await before.untilIdle();
      await follow(before, 4);
      await before.close();
      const after = await openServed({ plugins, config, backend: world.backend }, before.root);
      const again = emit(after, 4);
      await follow(after, 5);
      await again;
      await after.untilIdle();
      const all = await stored(after);
      await follow(after, all.length - seen.length);
      expect(seen).toEqual(all);
      expect(all).toEqual([...all].sort((one, other) => one - other));
      expect(all).toHaveLength(10 * 5);
    });
  });
});
