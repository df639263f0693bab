import { expect, it } from "vitest";
import * as request from "./request.ts";

it("wraps what is wrong with a tool and keeps the cause", () => {
  const normalize = () => request.normalize({ messages: [], tools: [{ name: "Bad" }] });
  expect(normalize).toThrow(
    expect.objectContaining({
      code: "invalid_agent_conversation_request",
      detail: expect.stringMatching(/^tools\[0\] /),
      cause: expect.objectContaining({ code: "invalid_conversation_tool_declaration" }),
    }),
  );
});

it("refuses tools that are no list", () => {
  expect(() => request.normalize({ messages: [], tools: "x" })).toThrow("tools must be a list");
});

it("reads its workspace, or has none", () => {
  const workspaceOf = (workspace: unknown) => request.normalize({ messages: [], tools: [], workspace }).workspace;
  expect(workspaceOf({ workspace_type: " Site ", workspace_id: 7 })).toEqual({
    workspace_type: "site",
    workspace_id: "7",
  });
  for (const none of [undefined, null, "site:7"]) expect(workspaceOf(none)).toBeNull();
  for (const empty of [{}, []]) {
    expect(() => workspaceOf(empty)).toThrow("invalid_agent_workspace_scope: workspace_type");
  }
});

it("takes an empty list for the empty map in each of its parts", () => {
  const parts = (empty: unknown) =>
    request.normalize({
      messages: empty,
      tools: empty,
      principal: empty,
      runtime_context: empty,
      metadata: empty,
      runtime_overrides: empty,
    });
  expect(parts([])).toEqual(parts({}));
  expect(parts([]).principal).toEqual({});
});

it("reads contexts of the wrong kind as empty and keeps nothing of the caller's", () => {
  const metadata = { trace: ["a"] };
  const read = request.normalize({ messages: [], tools: [], runtime_context: ["x"], principal: "me", metadata });
  metadata.trace.push("b");
  expect(read).toMatchObject({ runtime_context: {}, principal: null, metadata: { trace: ["a"] } });
});
