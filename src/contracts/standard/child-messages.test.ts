import { describe, expect, it } from "vitest";
import * as words from "./child-messages.ts";
import type { Attachment } from "./standard-message.ts";

const fileAt = (path: string): Attachment => ({
  id: "1",
  type: "file",
  path,
  name: "a.txt",
  mimeType: "text/plain",
  size: 1,
});

describe("what a parent is told of a child", () => {
  const report = { reference: "ref-1", name: "Ada", text: "All is well.", paths: ["/attachments/a-1.txt"] };

  it("names the child, what it came to and its files", () => {
    expect(words.reportNote({ ...report, success: true })).toBe(
      'The subagent "Ada" (ref-1) has finished.\n\nAll is well.\n\nFiles:\n- /attachments/a-1.txt',
    );
    expect(words.reportNote({ ...report, success: false, text: "No paper.", paths: [] })).toBe(
      'The subagent "Ada" (ref-1) has failed.\n\nNo paper.',
    );
    expect(words.failureNote({ ...report, success: false, text: "No paper." })).toBe(
      'The subagent "Ada" (ref-1) has failed: No paper.\n\nFiles:\n- /attachments/a-1.txt',
    );
  });

  it("names why a child stopped that should have ended its session", () => {
    expect(words.endedWithoutTool("max_session_turns")).toContain("max_session_turns");
    expect(words.endedWithoutTool("model_failed", "The key is refused.")).toMatch(/model_failed.*The key is refused\./);
  });

  it("lists the live ones when there cannot be another", () => {
    expect(words.tooMany("reviewer", 1, ["ref-1"])).toBe(
      'No further "reviewer" can be created: there is 1 already, which is the most. Write to a live one with subagent_message: ref-1.',
    );
    expect(words.tooMany("reviewer", 2, ["ref-1", "ref-2"])).toContain("there are 2 already");
  });
});

describe("paths in a text that goes to another thread", () => {
  const copied = [
    { from: "/attachments/a.txt", attachment: fileAt("/attachments/a-11112222.txt") },
    { from: "/attachments/a.txt.gz", attachment: fileAt("/attachments/b-33334444.gz") },
  ];

  it.each([
    ["Read /attachments/a.txt.", "Read /attachments/a-11112222.txt."],
    ["(/attachments/a.txt, /attachments/a.txt.gz)", "(/attachments/a-11112222.txt, /attachments/b-33334444.gz)"],
    ["/attachments/a.txt", "/attachments/a-11112222.txt"],
    [
      "Not /attachments/a.txt.bak and not /attachments/a.txt/b",
      "Not /attachments/a.txt.bak and not /attachments/a.txt/b",
    ],
    ["Not /attachments/axtxt", "Not /attachments/axtxt"],
  ])("are those of the copies: %s", (text, rewritten) => {
    expect(words.withPaths(text, copied)).toBe(rewritten);
  });

  it("stay where nothing was copied", () => {
    expect(words.withPaths("Read /attachments/a.txt.", [])).toBe("Read /attachments/a.txt.");
  });
});
