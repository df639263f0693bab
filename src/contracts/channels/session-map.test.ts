import { describe, expect, it } from "vitest";
import { storageKey } from "./session-map.ts";

describe("the key of a conversation", () => {
  it("folds connector and agent, and takes the conversation as it is", () => {
    const key = (connector_id: string, external_conversation_id: string, agent_slug?: string) =>
      storageKey({ connector_id, external_conversation_id, ...(agent_slug !== undefined && { agent_slug }) });
    expect(key("slack", "C1", "writer")).toBe("wp_agent_channel_session_496c9917779070497dbda5fb02a9ed21");
    expect(key(" Slack", "C1", "Writer")).toBe(key("slack", "C1", "writer"));
    expect(key("slack", "c1", "writer")).not.toBe(key("slack", "C1", "writer"));
    expect(key("slack", " C1", "writer")).not.toBe(key("slack", "C1", "writer"));
    expect(key("slack", "C1")).toBe(key("slack", "C1", ""));
  });
});
