import { describe, expect, it } from "vitest";
import * as pendingAction from "./pending-action.ts";

const patch = {
  action_id: "action-1",
  kind: "file_patch",
  summary: "Apply a patch.",
  preview: { diff: "+ hello" },
  apply_input: { target: "readme" },
  created_at: "2026-05-03T15:00:00Z",
};

const cyclic: Record<string, unknown> = {};
cyclic.itself = cyclic;

describe("a pending action", () => {
  it("has all its fields in their order, frozen, and nothing else", () => {
    const given = { ...patch, apply_input: { target: ["readme"] }, extra: 1 };
    const action = pendingAction.fromArray(given);
    given.apply_input.target.push("changed later");
    expect(Object.keys(action).join(" ")).toBe(
      "action_id kind summary preview apply_input workspace agent creator status created_at expires_at " +
        "resolved_at resolver resolution_result resolution_error resolution_metadata metadata",
    );
    expect(action.apply_input).toEqual({ target: ["readme"] });
    expect(Object.isFrozen(action)).toBe(true);
    expect(pendingAction.fromArray(action)).toEqual(action);
  });

  it.each([
    ["action_id", { action_id: 12 }],
    ["kind", { kind: " " }],
    ["preview", { preview: undefined }],
    ["preview", { preview: cyclic }],
    ["apply_input", { apply_input: { amount: [Number.NaN] } }],
    ["apply_input", { apply_input: Number.POSITIVE_INFINITY }],
    ["workspace.workspace_id", { workspace: { workspace_type: "site" } }],
    ["workspace", { workspace: "site:1" }],
    ["agent", { agent: " " }],
    ["creator", { creator: 7 }],
    ["status", { status: "Pending" }],
    ["status", { status: 1 }],
    ["expires_at", { expires_at: 1_777_000_000 }],
    ["resolution_error", { resolution_error: "" }],
    ["resolution_metadata", { resolution_metadata: "text" }],
    ["metadata", { metadata: cyclic }],
    ["resolved_at", { status: "deleted" }],
    ["resolver", { status: "deleted", resolved_at: "2026-05-04T00:00:00Z" }],
  ])("names %s when it is wrong: %o", (field, change) => {
    expect(() => pendingAction.fromArray({ ...patch, ...change })).toThrow(`invalid_ai_pending_action: ${field}`);
  });

  it("names the first of several fields that are wrong", () => {
    const wrong = { ...patch, created_at: "", status: "?", agent: "", workspace: 1, metadata: 1 };
    expect(() => pendingAction.fromArray(wrong)).toThrow("invalid_ai_pending_action: workspace");
    expect(() => pendingAction.fromArray({ ...wrong, workspace: null })).toThrow(": agent");
    expect(() => pendingAction.fromArray({ ...wrong, workspace: null, agent: null })).toThrow(": status");
  });

  it("refuses what is no record or cannot be read as one", () => {
    const unreadable = {
      get action_id() {
        throw new Error("no");
      },
    };
    for (const value of [undefined, "text", [], unreadable])
      expect(() => pendingAction.fromArray(value)).toThrow("invalid_ai_pending_action: ");
  });

  it("may say how it was resolved while it is still pending, and expire through nobody", () => {
    const resolved = { resolver: "user:7", resolved_at: "2026-05-04T00:00:00Z" };
    expect(pendingAction.fromArray({ ...patch, ...resolved })).toMatchObject({ status: "pending", ...resolved });
    const { resolved_at } = resolved;
    expect(pendingAction.fromArray({ ...patch, status: "expired", resolved_at }).resolver).toBeNull();
  });

  it("takes null for a field that is absent, and a list for metadata", () => {
    const action = pendingAction.fromArray({ ...patch, status: null, metadata: ["a"], resolution_metadata: null });
    expect(action).toMatchObject({ status: "pending", metadata: ["a"], resolution_metadata: {} });
  });
});

describe("the status of a pending action", () => {
  it("is trimmed but keeps its case", () => {
    expect(pendingAction.normalizeStatus(" expired\n")).toBe("expired");
    expect(pendingAction.isStatus(" expired\n")).toBe(false);
    expect(() => pendingAction.normalizeStatus("Expired")).toThrow("invalid_ai_pending_action_status: status");
    expect(() => pendingAction.normalizeStatus(null)).toThrow("invalid_ai_pending_action_status: status");
  });
});

describe("an approval envelope", () => {
  it("carries the whole record and only the grants that are maps", () => {
    const action = pendingAction.fromArray(patch);
    const grants = [{ type: "once" }, "always", ["never"]];
    const envelope = pendingAction.approvalEnvelope(action, {
      instruction: " ",
      grants,
      metadata: { surface: "chat" },
    });
    expect(envelope).toEqual({
      ...{ schema: "agents-api.message", version: 1, type: "approval_required", role: "tool" },
      content: "Apply a patch.",
      payload: { ...action, grants: [{ type: "once" }] },
      metadata: { surface: "chat" },
    });
  });

  it("shares nothing that can still change", () => {
    const metadata = { surface: { name: "chat" } };
    const grant = { scope: { tool: "a" } };
    const action = pendingAction.fromArray(patch);
    const envelope = pendingAction.approvalEnvelope(action, { grants: [grant], metadata });
    metadata.surface.name = "changed";
    grant.scope.tool = "changed";
    expect(JSON.stringify(envelope)).not.toContain("changed");
  });

  it("leaves out extras of the wrong shape, and refuses those that are not JSON", () => {
    const action = pendingAction.fromArray(patch);
    expect(pendingAction.approvalEnvelope(action, { instruction: 1, grants: "all", metadata: 1 })).toEqual(
      pendingAction.approvalEnvelope(action),
    );
    expect(() => pendingAction.approvalEnvelope(action, { metadata: cyclic })).toThrow("not_json");
  });
});
