import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { completionScript } from "./completion.ts";
import { verbs } from "./verbs.ts";

/** What bash offers behind these words; the last one is what was typed of the next. */
function offered(...words: readonly string[]): readonly string[] {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash that fills it in
  const asked = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _holdfast; printf "%s\\n" "${COMPREPLY[@]}"';
  const script = `${completionScript("bash", verbs)}\n${asked}`;
  return execFileSync("bash", ["-c", script, "bash", ...words], { encoding: "utf8" })
    .trim()
    .split("\n");
}

describe("completion in bash", () => {
  it("offers nouns, then the verbs of a noun", () => {
    expect(offered("holdfast", "thr")).toEqual(["threads"]);
    expect(offered("holdfast", "threads", "f")).toEqual(["fork"]);
  });

  it("offers the options of a verb, behind what it takes too", () => {
    expect(offered("holdfast", "threads", "fork", "--a")).toEqual(["--at"]);
    expect(offered("holdfast", "threads", "fork", "some-thread", "--key", "mine", "--a")).toEqual(["--at"]);
  });
});

describe("completion of what there is to choose from", () => {
  it("offers it for the first argument, beside the options", () => {
    expect(offered("holdfast", "completion", "b")).toEqual(["bash"]);
    expect(offered("holdfast", "switches", "off", "a")).toEqual(["agent"]);
    expect(offered("holdfast", "switches", "off", "agent", "a")).toEqual([""]);
  });

  it("offers it behind an option, and nothing else", () => {
    expect(offered("holdfast", "threads", "list", "--status", "st")).toEqual(["stopped", "stuck"]);
    expect(offered("holdfast", "threads", "list", "--status", "--")).toEqual([""]);
    expect(offered("holdfast", "gateway", "jobs", "--limit", "5", "--status", "s")).toEqual(["succeeded"]);
  });

  it("is told to fish too", () => {
    const script = completionScript("fish", verbs);
    expect(script).toContain("-l status -r -f -a 'idle running waiting stopped terminated stuck' -d");
    expect(script).toContain("__fish_seen_subcommand_from off\" -f -a 'tool agent'\n");
  });
});

describe("completion in fish", () => {
  it("offers the options of a verb where that verb was typed", () => {
    const script = completionScript("fish", verbs);
    const where = '"__fish_seen_subcommand_from threads; and __fish_seen_subcommand_from fork"';
    expect(script).toContain(`complete -c holdfast -n ${where} -l at -r -d 'up to the step that was settled by then'`);
    expect(script).toContain("complete -c holdfast -n \"__fish_seen_subcommand_from chat\" -l new -d 'begin anew'");
  });
});
