// Promise: who was told that his message was received is answered, whenever the process is killed in between.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { startProcess } from "./another-process.ts";
import type { Given } from "./channel-runtime.ts";
import { eachDatabase, type World } from "./databases.ts";
import { signedWebhook, webhookReceiver } from "./webhook-receiver.ts";

const program = new URL("./channel-runtime.ts", import.meta.url).href;
const secret = "a shared secret";
const hello = () => signedWebhook({ message_id: "m1", text: "Hello", conversation_id: "c1" }, secret);

/** A process with the channel, and the address of its server. A process that goes on may ask the model first. */
async function start(world: World, given: Omit<Given, "secret">) {
  const child = startProcess(world, program, { ...given, secret });
  const says = async () => {
    const line = await child.says();
    return line === "asked" ? await child.says() : line;
  };
  return { ...child, url: await says() };
}

async function runsOf(world: World): Promise<number> {
  const [row] = await world.sql("select count(*) as runs from runs");
  return Number(row?.runs);
}

eachDatabase((newWorld) => {
  it("answers after it was killed while the model was asked, with the same run", async () => {
    const world = await newWorld();
    const receiver = await webhookReceiver();
    const first = await start(world, { replyUrl: receiver.url, answers: false });
    const response = await fetch(`${first.url}/channels/shop`, hello());
    expect(response.status).toBe(202);
    expect(await first.says()).toBe("asked");

    await first.end("SIGKILL");
    expect(receiver.delivered).toEqual([]);
    const second = await start(world, { replyUrl: receiver.url, answers: true });

    const [reply] = await receiver.until(1);
    expect(reply?.body).toMatchObject({ type: "reply", text: "You said: Hello", in_reply_to: "m1" });
    const replay = await fetch(`${second.url}/channels/shop`, hello());
    expect(replay.status).toBe(200);
    await second.end("SIGKILL");
    expect(await runsOf(world)).toBe(1);
    expect(receiver.delivered).toHaveLength(1);
  });

  it("sends the reply again when it was killed while it sent it, under the same key", async () => {
    const world = await newWorld();
    const heard = Promise.withResolvers<string>();
    // Takes the reply and never says so.
    const silent = createServer((request) => heard.resolve(String(request.headers["idempotency-key"])));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => silent.closeAllConnections());
    onTestFinished(() => void silent.close());
    const deaf = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const first = await start(world, { replyUrl: deaf, answers: true });
    await fetch(`${first.url}/channels/shop`, hello());
    const key = await heard.promise;

    await first.end("SIGKILL");
    const receiver = await webhookReceiver();
    const second = await start(world, { replyUrl: receiver.url, answers: true });

    const [reply] = await receiver.until(1);
    expect(reply?.headers["idempotency-key"]).toBe(key);
    await second.end("SIGKILL");
    expect(await runsOf(world)).toBe(1);
    expect(receiver.delivered).toHaveLength(1);
  });
});
