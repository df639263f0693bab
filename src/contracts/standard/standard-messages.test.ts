import { describe, expect, it } from "vitest";
import * as message from "../conversation/message.ts";
import type { JsonMap } from "../json.ts";
import type { StandardMessage } from "./standard-message.ts";
import { type MessageRow, selectMessages, standardMessages } from "./standard-messages.ts";

const call = (id: string, metadata: JsonMap = {}, turn = 1) =>
  message.toolCall({ tool_name: "look", parameters: { at: id }, turn, metadata: { tool_call_id: id, ...metadata } });
const result = (id: string, success = true, metadata: JsonMap = {}) =>
  message.toolResult({
    ...{ tool_name: "look", content: `Result ${id}`, payload: { success } },
    metadata: { tool_call_id: id, ...metadata },
  });
const text = message.text;

/** Rows numbered from 0, one microsecond apart; `parts` says how a row differs from one of the first step. */
function rows(...given: readonly (message.Message | readonly [message.Message, Partial<MessageRow>])[]): MessageRow[] {
  return given.map((each, seq) => {
    const [envelope, parts] = Array.isArray(each) ? each : [each, {}];
    const place = { seq, at: 1000 + seq, depth: 0, parent_seq: null, step: 1, run: 1 };
    return { ...place, kind: "message", supersedes: null, envelope, ...parts };
  });
}

/** Id, author, words and calls of each message. */
function summary(messages: readonly StandardMessage[]): string[] {
  return messages.map(({ id, role, content, tool_calls }) =>
    [id, role, content, ...(tool_calls ?? []).map((each) => `+${each.id}`)].join(" "),
  );
}

describe("standardMessages", () => {
  it("makes one message of an answer with its calls, and one of each result", () => {
    const image = { id: "f", type: "file", path: "/attachments/a.png", name: "a.png", mimeType: "image/png", size: 1 };
    const asked = message.normalize({
      ...text("user", "Look.", { silent: true, tag: "x", attachments: [image] }),
      id: "m1",
    });
    const said = text("assistant", "I look.", { prompt: "main", reasoning: [{ text: "Hm." }, { text: "So." }] });
    const listed = standardMessages(
      rows([asked, { step: 0 }], said, call("1"), call("2"), result("1"), result("2", false)),
    );
    const usual = { name: null, tool_calls: null, tool_call_id: null, status: null, tool_status: null, silent: false };
    const more = {
      parent_id: null,
      depth: 0,
      attachments: [],
      reasoning_content: null,
      metadata: {},
      subagent_id: null,
    };
    const called = (id: string) => ({ id, type: "function", function: { name: "look", arguments: `{"at":"${id}"}` } });
    const answered = { ...usual, ...more, role: "tool", name: "look", status: "completed" };
    expect(listed).toEqual([
      {
        ...{ ...usual, ...more, id: "m1", role: "user", content: "Look.", silent: true, attachments: [image] },
        ...{ created_at: 1000, metadata: { tag: "x" } },
      },
      {
        ...{ ...usual, ...more, id: "message-1", role: "assistant", content: "I look.", status: "completed" },
        ...{ tool_calls: [called("1"), called("2")], reasoning_content: "Hm.\n\nSo.", created_at: 1001 },
        metadata: { prompt: "main" },
      },
      {
        ...answered,
        id: "message-4",
        content: "Result 1",
        tool_call_id: "1",
        tool_status: "success",
        created_at: 1004,
      },
      { ...answered, id: "message-5", content: "Result 2", tool_call_id: "2", tool_status: "error", created_at: 1005 },
    ]);
  });

  it.each<readonly [string, readonly MessageRow[], readonly string[]]>([
    [
      "results may stand between the calls of an answer",
      rows(text("assistant", "I look."), call("1"), result("1"), call("2"), result("2")),
      ["message-0 assistant I look. +1 +2", "message-2 tool Result 1", "message-4 tool Result 2"],
    ],
    [
      "an answer without words is a message too, and the next answer another",
      rows(call("1"), result("1"), [call("2", {}, 2), { step: 2 }], [result("2"), { step: 2 }]),
      ["message-0 assistant  +1", "message-1 tool Result 1", "message-2 assistant  +2", "message-3 tool Result 2"],
    ],
    [
      "what a person says parts an answer from calls that follow",
      rows(text("assistant", "So."), text("user", "Hey."), call("1")),
      ["message-0 assistant So.", "message-1 user Hey.", "message-2 assistant  +1"],
    ],
    [
      "calls of another run are not those of the answer",
      rows(text("assistant", "So."), [call("1"), { run: 2 }]),
      ["message-0 assistant So.", "message-1 assistant  +1"],
    ],
    [
      "side B writes as the user, with its own calls",
      rows(text("user", "I check.", { side: "b" }), call("1", { side: "b" }), [call("2"), { step: 2 }]),
      ["message-0 user I check. +1", "message-2 assistant  +2"],
    ],
    [
      "an edit stands where the first version stood and keeps its name",
      rows(
        message.normalize({ ...text("user", "Helo."), id: "m0" }),
        text("assistant", "Hi."),
        [text("user", "Hullo."), { kind: "edit", supersedes: 0 }],
        [message.normalize({ ...text("assistant", "Hi!"), id: "m9" }), { kind: "edit", supersedes: 1 }],
        [message.normalize({ ...text("user", "Hello."), id: "m3" }), { kind: "edit", supersedes: 0 }],
      ),
      ["m0 user Hello.", "message-1 assistant Hi!"],
    ],
    [
      "what was deleted is gone",
      rows(text("user", "A."), text("user", "B."), [text("user", ""), { kind: "deletion", supersedes: 0 }]),
      ["message-1 user B."],
    ],
    [
      "summaries are not listed, notices are",
      rows([text("system", "Before."), { kind: "summary" }], [text("system", "Stopped."), { kind: "notice" }]),
      ["message-1 system Stopped."],
    ],
    [
      "a removed call is gone with its result",
      rows(text("assistant", "So."), call("1"), call("2"), result("1", true, { removed: true }), result("2")),
      ["message-0 assistant So. +2", "message-4 tool Result 2"],
    ],
    ["an answer of nothing but a removed call is gone", rows(call("1"), result("1", true, { removed: true })), []],
    [
      "a note to the model does not part the calls of an answer",
      rows(call("1"), text("assistant", "Again?", { type: "identical_failure_nudge" }), call("2")),
      ["message-0 assistant  +1 +2", "message-1 system Again?"],
    ],
    [
      "requests are no messages",
      rows(call("1"), message.approvalRequired({ content: "May it?", payload: {} })),
      ["message-0 assistant  +1"],
    ],
    [
      "parts are shown by their words",
      rows(
        text("user", [
          { type: "text", text: "See." },
          { type: "file", media_type: "image/png", data: "AAAA" },
        ]),
      ),
      ["message-0 user See.\n[file: image/png]"],
    ],
  ])("%s", (_, given, expected) => {
    expect(summary(standardMessages(given))).toEqual(expected);
  });

  it("puts what a prompt says below the message with the call that it speaks for", () => {
    const inner = { depth: 1, parent_seq: 2, step: 2 };
    const listed = standardMessages(
      rows(
        ...[text("assistant", "I ask."), call("1"), call("2")],
        ...([
          [text("assistant", "Inside."), inner],
          [call("3", {}, 2), inner],
          [result("3"), inner],
        ] as const),
        [result("2"), { step: 2 }],
        [call("4"), { step: 2 }],
      ),
    );
    expect(summary(listed)).toEqual([
      "message-0 assistant I ask. +1 +2 +4",
      "message-3 assistant Inside. +3",
      "message-5 tool Result 3",
      "message-6 tool Result 2",
    ]);
    expect(listed.map(({ parent_id, depth }) => [parent_id, depth])).toEqual([
      [null, 0],
      ["message-0", 1],
      ["message-0", 1],
      [null, 0],
    ]);
  });

  it("tells what failed and what came from outside", () => {
    const broken = text("assistant", "Half", { status: "failed" });
    const error = message.normalize({
      schema: message.SCHEMA,
      version: 1,
      type: "error",
      role: "assistant",
      content: "No.",
    });
    const given = [text("assistant", "Whole"), broken, error, text("user", "Me"), text("user", "B", { side: "b" })];
    const listed = standardMessages(rows(...given, text("user", "Child", { subagent_id: "c1" })));
    expect(listed.map(({ status }) => status)).toEqual(["completed", "failed", "failed", null, "completed", null]);
    expect(listed.at(-1)?.subagent_id).toBe("c1");
  });
});

describe("selectMessages", () => {
  const messages = standardMessages(
    rows(
      ...["0", "1", "2"].map((content) => text("user", content)),
      text("user", "3", { silent: true }),
      [text("user", "4"), { depth: 1 }],
      ...["5", "6"].map((content) => text("user", content)),
    ),
  );

  it.each([
    [{}, "01256", 5, false],
    [{ limit: 2 }, "56", 5, true],
    [{ limit: 2, offset: 1 }, "25", 5, true],
    [{ limit: 2, offset: 4 }, "0", 5, false],
    [{ limit: 2, order: "asc" }, "01", 5, true],
    [{ limit: 2, offset: 3, order: "asc" }, "56", 5, false],
    [{ limit: 2, order: "desc" }, "65", 5, true],
    [{ limit: 2, offset: 1, order: "desc" }, "52", 5, true],
    [{ includeSilent: true }, "012356", 6, false],
    [{ maxDepth: 1 }, "012456", 6, false],
    [{ includeSilent: true, maxDepth: 9 }, "0123456", 7, false],
    [{ limit: 0 }, "", 5, true],
    [{ offset: 99 }, "", 5, false],
    [{ limit: -1, offset: -1 }, "", 5, true],
  ] as const)("for %j gives %s", (query, contents, total, hasMore) => {
    const page = selectMessages(messages, query);
    expect({ ...page, messages: page.messages.map(({ content }) => content).join("") }).toEqual({
      ...{ messages: contents, total, hasMore },
    });
  });

  it("gives a hundred unless told otherwise", () => {
    const many = standardMessages(rows(...Array.from({ length: 101 }, (_, index) => text("user", `${index}`))));
    const page = selectMessages(many, {});
    expect([page.messages.length, page.messages[0]?.content, page.hasMore]).toEqual([100, "1", true]);
  });
});
