import { describe, expect, it } from "vitest";
import { attachedPath, newFamily, relationship } from "../../../test/family.ts";
import type { JsonMap } from "../../contracts/json.ts";
import { createEntry } from "../new-entry.ts";
import { deliveryOf } from "./deliver.ts";
import { createVariables } from "./variables.ts";

const wish = {
  ...{ agent: "mailer", message: "Send /attachments/a.txt.", attachments: ["/attachments/a.txt"], name: "Ada" },
  arguments: { to: "Bea" },
};
const token = { name: "TOKEN", required: true, scoped: true };
const SECRET = "s3cr3t-value";

async function waiting(parts: Parameters<typeof relationship>[1] = {}, member = {}, env = {}) {
  const family = await newFamily(
    {
      parent: { a: [relationship("mail_agent", { as: "mailer", ...parts })] },
      mail_agent: { variables: [token, { name: "REGION", required: true, scoped: true, type: "text" }], ...member },
    },
    { REGION: "eu", ...env },
  );
  await family.putFile(family.parent.id, "/attachments/a.txt");
  await family.setVariable(family.parent.id, "TOKEN", "of the parent");
  const returned = await family.call("subagent_create", wish);
  const requestId = String((returned.metadata.error_data as JsonMap | undefined)?.request_id);
  return { family, returned, requestId, variables: createVariables(family.host) };
}

const submit = ({ family, requestId, variables }: Awaited<ReturnType<typeof waiting>>, env: unknown) =>
  variables.submit(family.parent.id, requestId, { env: env as Record<string, unknown> });

describe("a child that needs variables", () => {
  it("is not created before somebody sets them, and the parent is told where", async () => {
    const { family, returned, requestId, variables } = await waiting();
    expect(returned).toMatchObject({ success: false, error: expect.stringContaining("TOKEN") });
    expect(returned.metadata).toMatchObject({
      error_code: "subagent_env_required",
      error_data: {
        request_id: requestId,
        endpoint: `/threads/${family.parent.id}/variables/${requestId}`,
        required: ["TOKEN", "REGION"],
        missing: ["TOKEN"],
        agent: "mailer",
      },
    });
    expect(await family.children()).toEqual([]);
    expect(await variables.get(family.parent.id, requestId)).toEqual({
      request_id: requestId,
      parent_thread_id: family.parent.id,
      agent_name: "mail_agent",
      registry_agent_name: "mailer",
      required: ["TOKEN", "REGION"],
      missing: ["TOKEN"],
    });
  });

  it.each([
    ["the agent itself", { env: { TOKEN: "x" } }, {}],
    ["its prompt", { promptEnv: { TOKEN: "x" } }, {}],
    ["the process", {}, { TOKEN: "x" }],
  ])("is created at once when %s has them", async (_, member, env) => {
    const { family, returned } = await waiting({}, member, env);
    expect(returned.status).toBe("runtime_tool_pending");
    expect(await family.children()).toHaveLength(1);
  });

  it("does not wait for one that it may inherit, or that it can do without", async () => {
    const variables = [
      { name: "REQUIRED", required: true },
      { name: "SCOPED", scoped: true },
    ];
    const { family } = await waiting({}, { variables });
    expect(await family.children()).toHaveLength(1);
  });

  it("is created with the values, its files and its first message, once", async () => {
    const waits = await waiting({ parentCommunication: "explicit", maxInstances: 3 });
    const { family, requestId } = waits;
    // The parent went on, and has not got the file any more.
    await family.write({ write: "file_gone", thread_id: family.parent.id, path: "/attachments/a.txt" });
    const submitted = await submit(waits, { TOKEN: SECRET, COUNT: 3, NOTHING: null });
    const [child] = await family.children();
    expect(submitted).toEqual({ request_id: requestId, child_thread_id: child?.id, status: "success" });
    expect(child).toMatchObject({
      agent: "mail_agent",
      child_status: "running",
      child: { relationship: "mailer", parent_communication: "explicit", request_id: null, thread_name: "Ada" },
    });
    expect(await family.variables(child?.id ?? "")).toEqual({ TOKEN: SECRET, COUNT: "3" });
    const left = await family.inbox(child?.id ?? "");
    expect(left.map(({ kind }) => kind)).toEqual(["inject", "inject", "message"]);
    expect(left.at(-1)?.content).toMatch(/^Send \/attachments\/a-.{8}\.txt\.$/);
    const path = attachedPath(left[1]);
    expect(await family.host.stores.files.get(child?.id ?? "", path)).toBeDefined();
    await expect(submit(waits, { TOKEN: SECRET })).rejects.toMatchObject({ code: "variable_request_not_found" });
    await expect(waits.variables.get(family.parent.id, requestId)).rejects.toMatchObject({
      code: "variable_request_not_found",
    });
  });

  it("is created once when two submit at the same time", async () => {
    const waits = await waiting();
    const outcomes = await Promise.allSettled([submit(waits, { TOKEN: "1" }), submit(waits, { TOKEN: "2" })]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await waits.family.children()).toHaveLength(1);
  });

  it("delivers as a message, because no call waits for it any more", async () => {
    const waits = await waiting();
    await submit(waits, { TOKEN: SECRET });
    const [child] = await waits.family.children();
    if (!child) throw new Error("There is no child.");
    const session = { status: "success", text: "Sent.", attachments: [] } as const;
    const end = { code: "session_stop", session, lastMessage: "", notifies: true, bindsTerminalTools: true };
    const { writes } = await deliveryOf(waits.family.host, child, end);
    expect(writes.map(({ write }) => write)).toEqual(["entry", "child_status"]);
  });

  it("leaves no trace of a value anywhere", async () => {
    const waits = await waiting();
    await submit(waits, { TOKEN: SECRET });
    expect(await waits.family.everything()).not.toContain(SECRET);
  });
});

describe("variables that cannot be taken", () => {
  it.each<[string, unknown, string]>([
    ["no map", "TOKEN=x", "invalid_variables"],
    ["a list", ["x"], "invalid_variables"],
    ["nothing", undefined, "invalid_variables"],
    ["a function", { TOKEN: () => SECRET }, "invalid_variables"],
    ["others than the missing ones", { OTHER: SECRET }, "variables_missing"],
    ["null for what is missing", { TOKEN: null, OTHER: SECRET }, "variables_missing"],
  ])("are %s, and the request is kept", async (_, env, code) => {
    const waits = await waiting();
    const error: Error = (await submit(waits, env).catch((thrown: unknown) => thrown as Error)) as Error;
    expect(error).toMatchObject({ code });
    expect(String(error.message)).not.toContain(SECRET);
    expect(await waits.family.children()).toEqual([]);
    expect(await submit(waits, { TOKEN: "" })).toMatchObject({ status: "success" });
  });

  it("are for a request that is unknown, of another kind or another thread's", async () => {
    const { family, requestId, variables } = await waiting();
    for (const [thread, id] of [
      [family.parent.id, "nothing"],
      [family.parent.id, ""],
      ["another thread", requestId],
    ] as const) {
      await expect(variables.get(thread, id)).rejects.toMatchObject({ code: "variable_request_not_found" });
      await expect(variables.submit(thread, id, { env: {} })).rejects.toMatchObject({
        code: "variable_request_not_found",
      });
    }
  });

  it("are for a parent that has ended", async () => {
    const waits = await waiting();
    await waits.family.host.stores.threads.terminate(waits.family.parent.id, createEntry.stop("Enough."));
    await expect(submit(waits, { TOKEN: SECRET })).rejects.toMatchObject({ code: "variable_request_not_found" });
  });

  it("are for a child of which there are enough by now", async () => {
    const waits = await waiting({ maxInstances: 1, blocking: false });
    const second = await waits.family.call("subagent_create", wish);
    const { request_id } = second.metadata.error_data as { request_id: string };
    await submit(waits, { TOKEN: SECRET });
    const late = waits.variables.submit(waits.family.parent.id, request_id, { env: { TOKEN: SECRET } });
    await expect(late).rejects.toMatchObject({ code: "subagent_limit_reached" });
    expect(await waits.family.children()).toHaveLength(1);
  });

  it("are for the last child that there may be, and others come at the same moment", async () => {
    const waits = await waiting({ maxInstances: 1, blocking: false });
    const second = await waits.family.call("subagent_create", wish);
    const { request_id } = second.metadata.error_data as { request_id: string };

    const outcomes = await Promise.allSettled([
      submit(waits, { TOKEN: SECRET }),
      waits.variables.submit(waits.family.parent.id, request_id, { env: { TOKEN: SECRET } }),
    ]);

    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(refused).toEqual([expect.objectContaining({ code: "subagent_limit_reached" })]);
    const [child, ...others] = await waits.family.children();
    expect(others).toEqual([]);
    expect(refused[0].message).toContain(child?.id);
  });
});
