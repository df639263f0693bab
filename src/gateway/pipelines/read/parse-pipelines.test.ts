import { describe, expect, it } from "vitest";
import { located, problemsOf } from "../pipelines-in-test.ts";
import { parsePipelines } from "./parse-pipelines.ts";

/** A pipeline `p` whose only step has these lines, from line 4 and column 7 on. */
function step(...lines: readonly string[]): string {
  return ["- name: p", "  on: t", "  steps:", ...lines.map((line, at) => `    ${at === 0 ? "-" : " "} ${line}`)].join(
    "\n",
  );
}

/** A pipeline `p` with a step and these lines, from line 3 and column 3 on. */
function pipeline(...lines: readonly string[]): string {
  return ["- name: p", "  steps: [{uses: a}]", ...lines.map((line) => `  ${line}`)].join("\n");
}

describe("a list of pipelines", () => {
  it("is read with every key that pipelines and steps have", () => {
    const source = located(`
- name: everything
  on: page.changed
  from_plugin: a
  if: {path: payload.url, op: exists}
  max_depth: 4
  execution_mode: synchronous
  timeout: 5s
  steps:
    - id: fetch
      uses: a
      if: {path: config.enabled, op: eq, value: true}
      with: {url: "{payload.url}", limit: 3}
      baggage: {web.url: payload.url, who: context.user}
      command: head
      on_error: bridge
      timeout: 90s
      retry: {max_attempts: 2, backoff: 1m}
    - split:
        - uses: b
          baggage: {from: payload.meta, namespace: extra.meta}
        - steps: [{uses: c}, {call: other}]
        - [{uses: b}, {uses: c}]
- name: other
  on-hook: job.failed
  steps: [{uses: d}]
- name: another
  on_hook: job.completed
  steps: [{uses: d}]
`);
    const parsed = parsePipelines([source]);
    expect(parsed).toMatchObject({
      drafts: [
        {
          name: "everything",
          trigger: { on: "page.changed", from_plugin: "a" },
          predicate: { path: "payload.url", op: "exists" },
          max_depth: 4,
          execution_mode: "synchronous",
          timeout_ms: 5_000,
          place: { file: "pipelines.yaml", line: 2, column: 3 },
          steps: [
            {
              id: "fetch",
              predicate: { path: "config.enabled", op: "eq", value: true },
              action: {
                kind: "uses",
                plugin: "a",
                with: { url: "{payload.url}", limit: 3 },
                baggage: [
                  { path: "web.url", from: "payload.url" },
                  { path: "who", from: "context.user" },
                ],
                command: "head",
                on_error: "bridge",
                timeout_ms: 90_000,
                retry: { max_attempts: 2, backoff_base_ms: 60_000 },
              },
            },
            {
              action: {
                kind: "split",
                branches: [
                  { action: { plugin: "b", baggage: [{ namespace: "extra.meta", from: "payload.meta" }] } },
                  { action: { kind: "steps", steps: [{ action: { plugin: "c" } }, { action: { kind: "call" } }] } },
                  { action: { kind: "steps", steps: [{ action: { plugin: "b" } }, { action: { plugin: "c" } }] } },
                ],
              },
            },
          ],
        },
        { name: "other", trigger: { on_hook: "job.failed" }, execution_mode: "async", timeout_ms: 30_000 },
        { name: "another", trigger: { on_hook: "job.completed" } },
      ],
    });
  });

  it("may be empty, or not there", () => {
    expect(parsePipelines([located("[]"), located("~")])).toEqual({ drafts: [] });
  });

  it.each([
    ["something else than a list", "name: p", [/^1:1 pipelines: a list of pipelines is expected/]],
    ["an entry that is no map", "- p", [/^1:3 pipeline 1 of the list: a map is expected/]],
    ["no name", "- on: t\n  steps: [{uses: a}]", [/^1:3 pipeline 1 of the list: "name" is missing/]],
    ["a blank name", `- name: " "\n  on: t\n  steps: [{uses: a}]`, [/^1:3 pipeline 1 of the list: "name" has to be/]],
    ["no steps", "- name: p\n  on: t", [/^1:3 pipeline "p": "steps" is missing/]],
    ["an empty list of steps", "- name: p\n  on: t\n  steps: []", [/^3:3 pipeline "p": "steps" is empty/]],
    ["steps that are no list", "- name: p\n  on: t\n  steps: a", [/^3:3 pipeline "p": "steps" has to be a list/]],
    [
      "an unknown key",
      pipeline("on: t", "execution-mode: async"),
      [/^4:3 pipeline "p": the key "execution-mode" is not known\. Did you mean "execution_mode"\?/],
    ],
    ["no trigger", pipeline("timeout: 1s"), [/^1:3 pipeline "p": a trigger is missing: "on" or "on-hook"/]],
    [
      "both triggers",
      pipeline("on: t", "on-hook: job.failed"),
      [/^4:3 pipeline "p": "on" and "on-hook" exclude each other/],
    ],
    ["a wildcard", pipeline("on: page.*"), [/^3:3 pipeline "p": "on" is the exact type/]],
    ["an unknown signal", pipeline("on-hook: job.complete"), [/^3:3 .*Did you mean "job\.completed"\?/]],
    [
      "a negative max_depth",
      pipeline("on: t", "max_depth: -1"),
      [/^4:3 pipeline "p": "max_depth" .*not a negative number/],
    ],
    ["a max_depth that is no whole number", pipeline("on: t", "max_depth: 1.5"), [/^4:3 pipeline "p": "max_depth"/]],
    ["an unknown execution mode", pipeline("on: t", "execution_mode: sync"), [/^4:3 .*async, synchronous/]],
    [
      "a timeout without a unit",
      pipeline("on: t", "timeout: 30"),
      [/^4:3 pipeline "p": "timeout" has to be a duration/],
    ],
    [
      "an invalid predicate",
      pipeline("on: t", "if: {path: state.x, op: exists}"),
      [/^4:3 pipeline "p": "if" is not valid/],
    ],
    ["a predicate without a value", pipeline("on: t", "if:"), [/^4:3 pipeline "p": "if" is not valid/]],
    [
      "a trigger that reads a configuration",
      pipeline("on: t", "if: {path: config.x, op: exists}"),
      [/"if" is not valid/],
    ],
    [
      "only_between",
      pipeline("on: t", "only_between: 08:00-18:00"),
      [/^4:3 pipeline "p": "only_between" is not supported/],
    ],
    ["not_on", pipeline("on: t", "not_on: [sat]"), [/^4:3 pipeline "p": "not_on" is not supported/]],
  ])("with %s is refused with its place", (_, yaml, expected) => {
    expect(problemsOf(yaml)).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  });
});

describe("a step", () => {
  it.each([
    ["that does nothing", step("id: s"), [/^4:7 pipeline "p", step "s": one of uses, call, steps, split is expected/]],
    ["that does two things", step("uses: a", "call: p"), [/^5:7 .*step 1: a step does one thing: "uses" and "call"/]],
    ["that is no map", step("a"), [/^4:7 pipeline "p", step 1: a map is expected/]],
    [
      "with an unknown key",
      step("use: a"),
      [
        /^4:7 .*the key "use" is not known\. Did you mean "uses"\?/,
        /^4:7 .*one of uses, call, steps, split is expected/,
      ],
    ],
    ["with relay", step("relay: {to: elsewhere}"), [/^4:7 pipeline "p", step 1: "relay" is not supported/]],
    ["with an id that is no text", step("uses: a", "id: 7"), [/^5:7 .*"id" has to be a text/]],
    ["with a name that is no text", step("uses: [a]"), [/^4:7 .*"uses" has to be a text/]],
    ["with an empty group", step("steps: []"), [/^4:7 .*"steps" is empty/]],
    ["with an empty split", step("split: []"), [/^4:7 .*"split" is empty/]],
    ["with an empty branch", step("split:", "  - uses: a", "  - []"), [/^6:11 .*step 1, branch 2: it is empty/]],
    ["with an invalid if", step("uses: a", "if: {path: payload.a, op: like}"), [/^5:7 .*"if" is not valid/]],
    [
      "with a pattern that does not compile",
      step("uses: a", "if: {path: payload.a, op: regex, value: '('}"),
      [/^5:7 .*"if" is not valid: The regular expression cannot be compiled/],
    ],
    ["with with on a call", step("call: p", "with: {a: b}"), [/^5:7 .*"with" belongs to a step with "uses"/]],
    [
      "with baggage on a split",
      step("split: [{uses: a}]", "baggage: {a: payload.a}"),
      [/^5:7 .*"baggage" belongs to a step with "uses", this one has "split"/],
    ],
    ["with a retry on a group", step("steps: [{uses: a}]", "retry: {max_attempts: 1}"), [/^5:7 .*"retry" belongs to/]],
    ["with a with that is no map", step("uses: a", "with: [url]"), [/^5:7 .*"with" has to be a map/]],
    ["with an unknown on_error", step("uses: a", "on_error: brigde"), [/^5:7 .*Did you mean "bridge"\?/]],
    ["with no attempts", step("uses: a", "retry: {max_attempts: 0}"), [/^5:15 .*retry: "max_attempts" has to be/]],
    [
      "with an unknown key of retry",
      step("uses: a", "retry: {attempts: 2}"),
      [/^5:15 .*retry: the key "attempts" is not known/],
    ],
    ["with a timeout of nothing", step("uses: a", "timeout: 0s"), [/^5:7 .*"timeout" has to be a duration/]],
  ])("%s is refused with its place", (_, yaml, expected) => {
    expect(problemsOf(yaml)).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  });

  it.each([
    ["a path with a dash", "{a-b: payload.x}", [/baggage: "a-b" is no baggage path/]],
    ["a path that begins with a digit", "{a.1b: payload.x}", [/"a\.1b" is no baggage path/]],
    ["__proto__", "{a.__proto__.b: payload.x}", [/__proto__ is not allowed/]],
    ["a key of the gateway", "{ductile.depth: payload.x}", [/belongs to the gateway/]],
    [
      "a source outside payload and context",
      "{a: config.x}",
      [/"a" has to come from payload\.<path> or context\.<path>/],
    ],
    ["a whole payload under one path", "{a: payload}", [/"a" has to come from payload\.<path>/]],
    ["a path without a source", "{a: }", [/"a" names no source/]],
    [
      "a bulk import without a namespace",
      "{from: payload.x}",
      [/"from" and "namespace" belong together: "namespace" is missing/],
    ],
    ["a namespace without a source", "{namespace: x}", [/"from" is missing/]],
    [
      "a bulk import from the context",
      "{from: context.x, namespace: y}",
      [/"from" has to be payload or payload\.<path>/],
    ],
    ["an invalid namespace", "{from: payload, namespace: a b}", [/"a b" is no baggage path/]],
    ["other keys beside a bulk import", "{from: payload, namespace: y, z: payload.z}", [/the key "z" is not known/]],
  ])("that claims %s is refused", (_, baggage, expected) => {
    const problems = problemsOf(step("uses: a", `baggage: ${baggage}`));
    expect(problems).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
    expect(problems[0]).toMatch(/^5:\d+ pipeline "p", step 1, baggage: /);
  });

  it("is not read inside more than 32 others", () => {
    const nested = `${"{steps: [".repeat(33)}{uses: a}${"]}".repeat(33)}`;
    expect(problemsOf(`- {name: p, on: t, steps: [${nested}]}`)).toEqual([
      expect.stringContaining("steps are nested deeper than 32 levels"),
    ]);
  });
});

it("reports all problems of all pipelines together", () => {
  const yaml = "- name: p\n  on: t\n  steps: [{uses: a, call: b}, {id: s}]\n- name: q\n  steps: []\n";
  expect(problemsOf(yaml).map((problem) => problem.split(" ")[0])).toEqual(["3:21", "3:31", "4:3", "5:3"]);
});
