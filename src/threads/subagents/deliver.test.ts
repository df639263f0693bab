import { describe, expect, it } from "vitest";
import { attachedPath, type Family, newFamily, relationship } from "../../../test/family.ts";
import type { Thread } from "../../backend/thread-rows.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { createEntry } from "../new-entry.ts";
import { keptRequest } from "../requests/awaited-request.ts";
import { type ChildEnd, deliveryOf } from "./deliver.ts";

const wish = { agent: "reviewer", message: "Read it.", attachments: [], name: "Ada" };

/** A parent with one child, and the request that the parent waits on if it waits. */
async function withChild(parts: Parameters<typeof relationship>[1] = {}, side: "a" | "b" = "a") {
  const family = await newFamily({ parent: { [side]: [relationship("reviewer", parts)] }, reviewer: {} });
  if (parts.resumable === false) await family.call("reviewer", { topic: "x" }, { side });
  else await family.call("subagent_create", wish, { side });
  const [child] = await family.children();
  if (!child) throw new Error("There is no child.");
  if (parts.blocking !== false) await waitFor(family, child.id, "request-1");
  return { family, child };
}

async function waitFor({ host, parent, write }: Family, childId: string, id: string): Promise<void> {
  const whole = JSON.stringify({ metadata: { waits_for: "child", subagent_id: childId } });
  const request = {
    ...({
      id,
      call: 1,
      kind: "child",
      tool_name: "subagent_create",
      shown: "{}",
      binding: "b",
      expires_after: null,
    } as const),
    sealed: host.sealing.seal(whole, id),
  };
  // The child has taken in what the parent waits for.
  await write({ write: "request", thread_id: parent.id, run: 1, request }, keptRequest(childId, id));
}

const ended: ChildEnd = {
  code: "session_stop",
  session: { status: "success", text: "All is well.", attachments: [] },
  lastMessage: "",
  notifies: true,
  bindsTerminalTools: true,
};

async function deliver({ family, child }: { family: Family; child: Thread }, end: Partial<ChildEnd> = {}) {
  const delivery = await deliveryOf(family.host, child, { ...ended, ...end });
  if (delivery.writes.length > 0) await family.write(...delivery.writes);
  return delivery;
}

const answerOf = async ({ host }: Family, id = "request-1") => {
  const request = await host.stores.requests.get(id);
  return request?.answer == null ? null : (JSON.parse(request.answer) as JsonMap);
};

const statusOf = async (family: Family) => (await family.children())[0]?.child_status;

describe("a child that is done", () => {
  it("answers the call that waits for it", async () => {
    const { family, child } = await withChild();
    const delivery = await deliver({ family, child });
    expect(delivery).toMatchObject({
      status: "idle",
      terminates: false,
      notice: {
        role: "system",
        metadata: {
          ...{ silent: true, status_kind: "subagent_event", subagent_event: "parent_handoff", handoff_kind: "result" },
          parent_thread_id: family.parent.id,
        },
      },
    });
    expect(await answerOf(family)).toEqual({
      success: true,
      result: { text: "All is well.", reference: child.id, name: "Ada", status: "idle", attachments: [] },
      metadata: { subagent_id: child.id },
    });
    expect((await family.inbox(family.parent.id)).map(({ kind }) => kind)).toEqual(["answer"]);
    expect(await statusOf(family)).toBe("idle");
  });

  it("leaves a silent message when nobody waits", async () => {
    const { family, child } = await withChild({ blocking: false });
    await deliver({ family, child });
    const [left, more] = await family.inbox(family.parent.id);
    expect(left).toMatchObject({ kind: "message", role: "user", metadata: { silent: true, subagent_id: child.id } });
    expect(left?.content).toContain(child.id);
    expect(left?.content).toContain("All is well.");
    expect(more).toBeUndefined();
  });

  it("leaves a message when the call was given up meanwhile", async () => {
    const { family, child } = await withChild();
    await family.host.stores.requests.submit("request-1", { body: "{}", payload_hash: "x", mac: "mac" });
    await deliver({ family, child });
    expect((await family.inbox(family.parent.id)).at(-1)).toMatchObject({ kind: "message" });
  });

  it("answers the call whose message it took in last", async () => {
    const { family, child } = await withChild({ generation: 2, maxInstances: 1 });
    await deliver({ family, child });
    await waitFor(family, child.id, "request-2");
    await waitFor(family, child.id, "request-3");
    await deliver({ family, child });
    expect(await answerOf(family, "request-2")).toBeNull();
    expect(await answerOf(family, "request-3")).toMatchObject({ success: true });
  });

  it("speaks as the assistant to a side B", async () => {
    const { family, child } = await withChild({ blocking: false }, "b");
    await deliver({ family, child });
    expect(await family.inbox(family.parent.id)).toMatchObject([{ role: "assistant" }]);
  });

  it("hands its files over, and the message names the copies alone", async () => {
    const { family, child } = await withChild({ blocking: false });
    await family.putFile(child.id, "/attachments/review.txt");
    const text = "See /attachments/review.txt.";
    await deliver(
      { family, child },
      { session: { status: "success", text, attachments: ["/attachments/review.txt"] } },
    );
    const [left] = await family.inbox(family.parent.id);
    const path = attachedPath(left);
    expect(path).toMatch(/^\/attachments\/review-.{8}\.txt$/);
    expect(left?.content).toContain(`See ${path}.`);
    expect(left?.content).not.toContain("/attachments/review.txt");
    expect(await family.host.stores.files.get(family.parent.id, path)).toBeDefined();
  });

  it("names the copies to a call that waits, too", async () => {
    const { family, child } = await withChild();
    await family.putFile(child.id, "/attachments/review.txt");
    const session = { status: "success", text: "Done.", attachments: ["/attachments/review.txt"] } as const;
    await deliver({ family, child }, { session });
    const answer = await answerOf(family);
    const [copy] = (await family.host.stores.files.list(family.parent.id, "/attachments", { deep: true })).slice(-1);
    expect(copy?.path).toMatch(/^\/attachments\/review-.{8}\.txt$/);
    expect(answer?.result).toMatchObject({ attachments: [copy?.path] });
    expect(answer?.metadata).toMatchObject({ attachments: [{ path: copy?.path }] });
  });

  it("has failed when its files are gone, and keeps its words", async () => {
    const { family, child } = await withChild();
    const session = { status: "success", text: "Done.", attachments: ["/attachments/no.txt"] } as const;
    expect(await deliver({ family, child }, { session })).toMatchObject({ status: "failed" });
    const { error } = (await answerOf(family)) ?? {};
    expect(error).toContain("Done.");
    expect(error).toContain("/attachments/no.txt");
  });
});

describe("a child that fails", () => {
  it("tells why, and shows as failed", async () => {
    const { family, child } = await withChild();
    const session = { status: "failure", text: "No paper.", attachments: [] } as const;
    expect(await deliver({ family, child }, { code: "session_fail", session })).toMatchObject({
      status: "failed",
      notice: { metadata: { handoff_kind: "failure" } },
    });
    expect(await answerOf(family)).toMatchObject({
      success: false,
      error: expect.stringContaining("No paper."),
      metadata: { subagent_id: child.id, error_type: "subagent_failed" },
    });
    expect(await statusOf(family)).toBe("failed");
  });

  it("names the reason when it stopped without the tool that ends its session", async () => {
    const { family, child } = await withChild({ blocking: false });
    const end = { code: "max_session_turns", session: null, lastMessage: "I was about to" };
    expect(await deliver({ family, child }, end)).toMatchObject({ status: "failed" });
    const [left] = await family.inbox(family.parent.id);
    expect(left?.content).toContain("max_session_turns");
    expect(left?.content).not.toContain("I was about to");
  });

  it("without such a tool says its last words, unless something went wrong", async () => {
    const { family, child } = await withChild({ blocking: false });
    const end = { code: "stop_on_response", session: null, lastMessage: "Forty-two.", bindsTerminalTools: false };
    expect(await deliver({ family, child }, end)).toMatchObject({ status: "idle" });
    expect(await deliver({ family, child }, { ...end, code: "model_failed", failure: "No key." })).toMatchObject({
      status: "failed",
    });
    const contents = (await family.inbox(family.parent.id)).map(({ content }) => content);
    expect(contents[0]).toContain("Forty-two.");
    expect(contents[1]).toContain("No key.");
    expect(contents[1]).not.toContain("Forty-two.");
  });
});

describe("a child that is not to speak", () => {
  it.each([
    ["because it speaks for itself", { parentCommunication: "explicit" } as const, {}],
    ["because it was told not to", {}, { notifies: false }],
  ])("%s settles and leaves nothing", async (_, parts, end) => {
    const { family, child } = await withChild({ blocking: false, ...parts });
    expect(await deliver({ family, child }, end)).toMatchObject({ notice: null, status: "idle" });
    expect(await family.inbox(family.parent.id)).toEqual([]);
    expect(await statusOf(family)).toBe("idle");
  });

  it("answers a call that waits nevertheless", async () => {
    const { family, child } = await withChild({ parentCommunication: "explicit" });
    await deliver({ family, child }, { notifies: false });
    expect(await answerOf(family)).toMatchObject({ success: true });
  });
});

describe("a child that does not stay", () => {
  it("is terminated with what it delivers, and the delivery counts", async () => {
    const { family, child } = await withChild({ resumable: false });
    expect(await deliver({ family, child })).toMatchObject({ terminates: true });
    expect(await answerOf(family)).toMatchObject({ success: true, result: { text: "All is well." } });
    const [now] = await family.children();
    expect(now).toMatchObject({ child_status: "terminated", status: "terminated" });
  });
});

describe("a thread that has nothing to deliver", () => {
  it("is nobody's child", async () => {
    const { family } = await withChild();
    expect(await deliveryOf(family.host, family.parent, ended)).toMatchObject({ writes: [], notice: null });
  });

  it("was terminated while it ran", async () => {
    const { family, child } = await withChild({ blocking: false });
    await family.host.stores.threads.terminate(child.id, createEntry.stop("Enough."));
    expect(await deliveryOf(family.host, child, ended)).toMatchObject({ writes: [], status: "terminated" });
  });
});
