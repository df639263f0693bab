import { expect, it } from "vitest";
import { deskWorld } from "../../../test/desk-world.ts";
import { heldModel } from "../../../test/held.ts";
import { openShop, person } from "../../../test/shop-desk.ts";
import { agent } from "../agent.ts";

async function opened() {
  const { model, next } = heldModel();
  const { holdfast } = await deskWorld({ agents: [agent({ slug: "desk", model })] });
  const thread = await holdfast.threads.open("t", { agent: "desk" });
  const stands = async () => {
    const { thread: seen, isAtRest } = await thread.standing();
    return `${seen.status}, ${isAtRest ? "at rest" : "at work"}`;
  };
  /** What is left for it now stays where it is. */
  const holdUp = () => holdfast.switches.set("agent", "desk", { off: true });
  return { holdfast, thread, next, stands, holdUp };
}

it("rests before anything was said, and after what was said has been answered", async () => {
  const { thread, next, stands } = await opened();
  expect(await stands()).toBe("idle, at rest");
  const outcome = thread.send("Go.");
  const asked = await next();
  expect(await stands()).toBe("running, at work");
  asked.answer("Done.");
  await outcome;
  expect(await stands()).toBe("idle, at rest");
});

it("does not rest while something was left for it that it has not taken in", async () => {
  const { thread, stands, holdUp } = await opened();
  await holdUp();
  await thread.post("Go.");
  expect(await stands()).toBe("idle, at work");
});

it("rests when it was stopped, with what is queued too, until somebody speaks", async () => {
  const { thread, next, stands, holdUp } = await opened();
  await thread.post("Go.");
  await next();
  await thread.stop();
  expect(await stands()).toBe("stopped, at rest");
  await thread.queueMessage("For later.");
  expect(await stands()).toBe("stopped, at rest");
  await holdUp();
  await thread.post("Go on.");
  expect(await stands()).toBe("stopped, at work");
});

it("rests when it was ended for good, once the run that was under way has ended", async () => {
  const { thread, next, stands } = await opened();
  await thread.post("Go.");
  await next();
  await thread.terminate();
  expect(await stands()).toBe("terminated, at rest");
});

it("rests while it waits for somebody, until that person has answered", async () => {
  const { holdfast, wish } = await openShop();
  const { thread, request_id } = await wish("refund", person(7));
  expect(await thread.standing()).toMatchObject({ thread: { status: "waiting" }, isAtRest: true });
  await holdfast.switches.set("agent", "shop", { off: true });
  await holdfast.requests.submit(request_id, { decision: "rejected" });
  expect(await thread.standing()).toMatchObject({ thread: { status: "waiting" }, isAtRest: false });
});
