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

it("refuses tools that are no list and a workspace without an id", () => {
  expect(() => request.normalize({ messages: [], tools: "x" })).toThrow("tools must be a list");
  const workspace = { workspace_type: "site" };
  expect(() => request.normalize({ messages: [], tools: [], workspace })).toThrow("workspace.workspace_id");
});

it("reads contexts of the wrong kind as empty and keeps nothing of the caller's", () => {
  const metadata = { trace: ["a"] };
  const read = request.normalize({ messages: [], tools: [], runtime_context: ["x"], principal: "me", metadata });
  metadata.trace.push("b");
  expect(read).toMatchObject({ runtime_context: {}, principal: null, metadata: { trace: ["a"] } });
});
