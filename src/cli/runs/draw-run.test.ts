import { describe, expect, it } from "vitest";
import type { ShownTree } from "../../workflows/operations/tree.ts";
import { drawRun } from "./draw-run.ts";
import { elapsed } from "./elapsed.ts";
import { fitLines, type Room } from "./fit-lines.ts";

type Run = ShownTree["run"];
type Step = ShownTree["steps"][number];
type Part = Step["branches"][number];

/** Seconds after noon. */
const at = (seconds: number) => new Date(Date.UTC(2027, 0, 1, 12, 0, seconds)).toISOString();

function runOf(about: Partial<Run> = {}): Run {
  return {
    ...{ run_id: "r-1", workflow_id: "order", status: "running", reason: null, tags: [], parent_id: null },
    ...{ rerun_of: null, has_problem: false, created_at: at(0), started_at: at(0), ended_at: null, ...about },
  };
}

function step(id: string, status: Step["status"] = "pending", about: Partial<Step> = {}): Step {
  const [started_at, ended_at] = [status === "pending" ? null : at(0), isOver(status) ? at(2) : null];
  return {
    ...{ path: "0", id, type: "ability", status, attempt: null, waits_for: null, event: null, until: null },
    ...{
      request_id: null,
      child_id: null,
      started_at,
      ended_at,
      error_code: null,
      parts: null,
      branches: [],
      ...about,
    },
  };
}

function isOver(status: Step["status"]): boolean {
  return status === "succeeded" || status === "failed" || status === "cancelled" || status === "skipped";
}

function parts(counts: Partial<NonNullable<Step["parts"]>>): NonNullable<Step["parts"]> {
  const all = { pending: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0, ...counts };
  return { total: Object.values(all).reduce((sum, count) => sum + count, 0), ...all };
}

function part(name: string, status: Part["status"], ...steps: Step[]): Part {
  return { position: 0, name, status, steps };
}

function tree(steps: readonly Step[], about: Partial<Omit<ShownTree, "run">> & { run?: Partial<Run> } = {}): ShownTree {
  const { run, ...rest } = about;
  return { run: runOf(run), steps: [...steps], rollback: [], on_failure: [], children: [], ...rest };
}

function drawn(given: ShownTree, room: Room = {}): readonly string[] {
  const lines = drawRun(given, { now: Date.parse(at(64)), typed: (verb) => `holdfast ${verb}` });
  return fitLines(lines, room, (_kind, text) => text);
}

describe("the drawing of a run", () => {
  it.each<[what: string, tree: ShownTree, lines: readonly string[]]>([
    [
      "steps that are over, at work and to come, with their names in one column",
      tree([step("read", "succeeded"), step("translate", "running"), step("publish")]),
      ["● order  running  1m 04s  run r-1", "  ✓ read       2s", "  ● translate  1m 04s", "  · publish"],
    ],
    [
      "the items of a foreach as counters, and those that failed or are under way by their numbers",
      tree([
        step("each", "running", {
          type: "foreach",
          parts: parts({ succeeded: 409, failed: 3, running: 1, pending: 587 }),
          branches: [
            part("17", "failed", step("send", "failed", { error_code: "tool_failed" })),
            part("412", "running", step("read", "succeeded"), step("send", "running")),
          ],
        }),
      ]),
      [
        "● order  running  1m 04s  run r-1",
        "  ● each  412/1000, 3 failed, 1 under way  1m 04s",
        "    ✗ #17  send  tool_failed  2s",
        "    ● #412",
        "      ✓ read  2s",
        "      ● send  1m 04s",
      ],
    ],
    [
      "branches by their roles, and the case that was chosen",
      tree([
        step("both", "running", {
          type: "parallel",
          parts: parts({ succeeded: 1, running: 1 }),
          branches: [part("left", "succeeded", step("a", "succeeded")), part("right", "running", step("b", "running"))],
        }),
        step("enough", "running", {
          type: "branch",
          parts: parts({ running: 1 }),
          branches: [part("else", "running", step("refuse", "running"))],
        }),
      ]),
      [
        "● order  running  1m 04s  run r-1",
        "  ● both    1/2, 1 under way  1m 04s",
        "    ✓ left",
        "      ✓ a  2s",
        "    ● right",
        "      ● b  1m 04s",
        "  ● enough  else  1m 04s",
        "    ● refuse  1m 04s",
      ],
    ],
    [
      "a decision, with the command that agrees",
      tree([step("refund", "waiting", { waits_for: "approval", request_id: "q-1", until: at(124) })], {
        run: { status: "suspended", reason: "waiting_for_approval" },
      }),
      [
        "? order  waits for a decision  1m 04s  run r-1",
        "  ? refund  waits for a decision, 1m 00s left  1m 04s",
        "    holdfast approvals accept q-1",
      ],
    ],
    [
      "an event, a result, a time and an attempt",
      tree(
        [
          step("paid", "waiting", { waits_for: "event", event: "it's paid" }),
          step("address", "waiting", { waits_for: "request", request_id: "q-2" }),
          step("rest", "waiting", { type: "sleep", until: at(76) }),
          step("send", "retrying", { attempt: 2, until: at(67) }),
        ],
        { run: { status: "suspended", reason: "waiting_for_event" } },
      ),
      [
        "◌ order  waits for an event  1m 04s  run r-1",
        '  ◌ paid     waits for the event "it\'s paid"  1m 04s',
        "    holdfast runs send r-1 'it'\\''s paid' '{}'",
        "  ? address  waits for a result  1m 04s",
        "    holdfast requests submit q-2 --result '{}'",
        "  ◌ rest     sleeps, 12s left  1m 04s",
        "  ↻ send     tries again, in 3s, attempt 2  1m 04s",
      ],
    ],
    [
      "an agent's thread, a run below it, and one that nothing waits for",
      tree(
        [
          step("ask", "running", { type: "agent", waits_for: "agent", child_id: "t-1" }),
          step("ship", "running", { type: "workflow", waits_for: "workflow", child_id: "r-2" }),
        ],
        {
          children: [
            runOf({ run_id: "r-3", workflow_id: "report", started_at: at(60) }),
            runOf({ run_id: "r-2", workflow_id: "shipping", status: "suspended", reason: "sleeping" }),
          ],
        },
      ),
      [
        "● order  running  1m 04s  run r-1",
        "  ● ask   an agent is at work  1m 04s",
        "    holdfast threads tail t-1",
        "  ● ship  shipping: sleeps  1m 04s",
        "    holdfast runs follow r-2",
        "  runs below it",
        "    ● report  running  4s  run r-3",
      ],
    ],
    [
      "a failure, what was undone, and what comes after it",
      tree([step("book", "succeeded"), step("pay", "failed", { error_code: "card_refused" }), step("thank")], {
        run: { status: "failed", ended_at: at(5) },
        rollback: [step("book", "succeeded")],
        on_failure: [step("report", "succeeded")],
      }),
      [
        "✗ order  failed  5s  run r-1",
        "  ✓ book   2s",
        "  ✗ pay    card_refused  2s",
        "  · thank",
        "  undone, the last first",
        "    ✓ book  2s",
        "  after the failure",
        "    ✓ report  2s",
        "  holdfast runs rerun r-1",
      ],
    ],
    [
      "what to type about a run that failed or is paused",
      tree([step("pay", "failed", { error_code: "card_refused" })], { run: { status: "failed", ended_at: at(5) } }),
      ["✗ order  failed  5s  run r-1", "  ✗ pay  card_refused  2s", "  holdfast runs retry r-1"],
    ],
    [
      "a run that is paused",
      tree([step("pay")], { run: { status: "suspended", reason: "paused" } }),
      ["◌ order  paused  1m 04s  run r-1", "  · pay", "  holdfast runs resume r-1"],
    ],
  ])("shows %s", (_what, given, lines) => {
    expect(drawn(given)).toEqual(lines);
  });

  it("moves no cursor, whatever a step is called", () => {
    const [, line = ""] = drawn(tree([step("a\u001b[2J\u202eb\nc")]));
    expect(line).toBe("  · a?[2J?b?c");
  });

  it("takes its marks and little more when it is painted", () => {
    const painted = fitLines(
      drawRun(tree([step("read", "succeeded"), step("publish")]), { now: Date.parse(at(64)), typed: (verb) => verb }),
      {},
      (kind, text) => `<${kind}>${text}</>`,
    );
    expect(painted[1]).toBe("  <succeeded>✓</> read     2s");
    expect(painted[2]).toBe("  <pending>·</><heading> publish</>");
  });
});

describe("a drawing in a small terminal", () => {
  const many = tree([
    ...Array.from({ length: 40 }, (_, index) => step(`done${index}`, "succeeded")),
    step("refund", "waiting", { waits_for: "approval", request_id: "q-1" }),
    ...Array.from({ length: 40 }, (_, index) => step(`later${index}`)),
  ]);

  it("keeps what is at work or waits and what is next to it, and says how much there is beside", () => {
    expect(drawn(many, { height: 9 })).toEqual([
      "● order  running  1m 04s  run r-1",
      "  … 38 done",
      "  ✓ done38   2s",
      "  ✓ done39   2s",
      "  ? refund   waits for a decision  1m 04s",
      "    holdfast approvals accept q-1",
      "  · later0",
      "  · later1",
      "  … 38 to come",
    ]);
  });

  it("keeps what waits for a person rather than what failed", () => {
    const failures = Array.from({ length: 9 }, (_, index) => part(String(index), "failed", step("send", "failed")));
    const each = { type: "foreach", parts: parts({ failed: 9 }), branches: failures };
    const ask = step("agreed", "waiting", { waits_for: "approval", request_id: "q-1" });
    expect(drawn(tree([step("each", "succeeded", each), ask]), { height: 6 })).toEqual([
      "● order  running  1m 04s  run r-1",
      "  ✓ each    9/9, 9 failed  2s",
      "    ✗ #0  send  2s",
      "    … 8 more",
      "  ? agreed  waits for a decision  1m 04s",
      "    holdfast approvals accept q-1",
    ]);
  });

  it("is never higher or wider than that, whatever is drawn", () => {
    const wide = step("ウェブサイトの翻訳をすべて公開する👍🏽👍🏽", "running", { waits_for: "agent", child_id: "t-1" });
    const given = tree([wide, ...many.steps, step("x".repeat(300), "failed", { error_code: "e".repeat(50) })]);
    for (let height = 1; height < 30; height += 1) {
      for (const width of [1, 2, 3, 10, 40, 80]) {
        const lines = drawn(given, { width, height });
        expect(lines.length, `${width} × ${height}`).toBeLessThanOrEqual(height);
        for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(width);
      }
    }
  });

  it("writes a command over several lines so that it can be copied", () => {
    const run_id = "5e0c5cf8-ae8f-47ea-8b04-a1bb4e8e1f8c";
    const lines = drawn(tree([step("ok", "waiting", { waits_for: "approval", request_id: run_id })]), { width: 44 });
    expect(lines.slice(2)).toEqual(["    holdfast approvals accept \\", `      ${run_id}`]);
  });
});

it.each([
  [-5, "0ms"],
  [340, "340ms"],
  [12_900, "12s"],
  [64_000, "1m 04s"],
  [7_500_000, "2h 05m"],
  [273_600_000, "3d 04h"],
])("%i milliseconds are %s", (ms, words) => {
  expect(elapsed(ms)).toBe(words);
});
