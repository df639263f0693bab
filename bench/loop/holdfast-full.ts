// Holdfast with every guard, hook and port switched on, and none of them tripping.
import assert from "node:assert/strict";
import {
  createHooks,
  createMemoryChatRunControl,
  createMemoryRuntimeToolStore,
  type RunOptions,
} from "../../src/index.ts";
import { holdfastRun } from "./holdfast-observed.ts";
import { type Loop, TOOL } from "./workload.ts";

const OUT_OF_REACH = 1_000_000;

export const holdfastFull: Loop = {
  name: "Holdfast, everything on",
  messagesPerCall: 3,
  prepare(turns) {
    const { options, heard } = everyOption();
    const run = holdfastRun(turns, options);
    return async () => {
      const done = await run();
      assert.deepEqual(heard, expected(turns), "an option was not exercised as often as it should be");
      return done;
    };
  },
};

function everyOption() {
  const heard = { mediator: 0, filter: 0, audit: 0, diagnostics: 0, completion: 0, interrupt: 0, go_on: 0, ends: 0 };
  const hooks = createHooks();
  hooks.on("loopEvent", (event) => {
    if (event === "completed") heard.ends++;
  });
  hooks.filter("toolAuditParameters", (redacted) => {
    heard.audit++;
    return redacted;
  });
  hooks.filter("preToolCallDecision", (decision) => {
    heard.filter++;
    return decision;
  });
  const options: RunOptions = {
    hooks,
    signal: new AbortController().signal,
    context: { locale: "en", channel: "bench" },
    metadata: { purpose: "bench" },
    principal: { type: "user", id: "1" },
    workspace: { workspace_type: "site", workspace_id: "1" },
    runId: "run-1",
    sessionId: "session-1",
    runControl: createMemoryChatRunControl({ now: () => new Date() }),
    runtimeToolStore: createMemoryRuntimeToolStore(),
    budgets: ["tool_calls", `tool_calls_${TOOL}`, "wall_clock_seconds"].map((name) => ({
      name,
      ceiling: OUT_OF_REACH,
    })),
    compactionPolicy: { enabled: true, max_messages: OUT_OF_REACH },
    summarizer: () => assert.fail("compaction is out of reach"),
    toolCallRules: [
      { id: "limit", after_tool: "desk/open", limited_tools: [TOOL], max_calls: 1, require_one_of: ["desk/close"] },
      { id: "use", require_tool_use: true, min_tool_calls: 1 },
    ],
    spinDetector: { threshold: 3 },
    identicalFailureTracker: { threshold: 2 },
    toolResultTruncator: { max_bytes: 8192 },
    preToolMediator: () => {
      heard.mediator++;
      return { action: "proceed" };
    },
    postToolResultDiagnostics: () => {
      heard.diagnostics++;
      return { cached: false };
    },
    completionPolicy: () => {
      heard.completion++;
      return { complete: false };
    },
    interruptSource: () => {
      heard.interrupt++;
      return null;
    },
    shouldContinue: () => {
      heard.go_on++;
      return true;
    },
    transcriptLock: {
      acquire: () => "token",
      release: () => {
        heard.ends++;
      },
    },
    transcriptPersister: () => {
      heard.ends++;
    },
  };
  return { options, heard };
}

/** Each callback once for every call or every turn that goes on; the end is told by event, lock and persister. */
function expected(turns: number): ReturnType<typeof everyOption>["heard"] {
  const calls = turns - 1;
  return {
    mediator: calls,
    filter: calls,
    audit: calls,
    diagnostics: calls,
    completion: calls,
    interrupt: calls,
    go_on: calls,
    ends: 3,
  };
}
