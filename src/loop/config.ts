// What the machine goes by while one side, or one prompt that it uses as a tool, is at work: values alone, made by the
// driver from what its user has given.
import type { Budget } from "../contracts/conversation/budget.ts";
import type { CompactionPolicy } from "../contracts/conversation/compaction-policy.ts";
import type { JsonMap } from "../contracts/json.ts";
import type { Side } from "../contracts/standard/side.ts";
import type { SubPromptUse } from "../contracts/standard/sub-prompt-result.ts";
import type { CallRule } from "../contracts/tools/call-gate.ts";
import type { ToolMap } from "../contracts/tools/declaration.ts";
import type { Turns } from "./records.ts";

/** The callbacks that exist; the machine asks only those. */
export type Asked = {
  readonly cancellation: boolean;
  /** Which tools the model sees; otherwise it sees them all. */
  readonly visibility: boolean;
  readonly auditFilter: boolean;
  /** How a call may run; otherwise that follows from the context and the declaration alone. */
  readonly actionPolicy: boolean;
  readonly mediator: boolean;
  readonly decisionFilter: boolean;
  readonly diagnostics: boolean;
  readonly completion: boolean;
  readonly interrupt: boolean;
  /** Whether the last words are what was asked for. */
  readonly output: boolean;
  /** `default`: while there are tool calls; `never`: one turn only. */
  readonly continuation: "ask" | "default" | "never";
};

/** Where the families of contracts differ in policy, the difference is one of these. */
export type Rules = {
  /** What a call that waits for somebody outside does to the run. */
  readonly waiting: "end" | "park";
  /** What becomes of the calls of a halted batch that were not opened: nothing, or each gets its one result. */
  readonly rest: "drop" | "settle";
  /** Whether the parameters are shown of a call to a tool that there is not, of which nobody has said what is secret. */
  readonly undeclared: "show" | "hide";
  /** Every turn begins by asking for what waits for the run. */
  readonly inbox: boolean;
  /** When the time of a run is looked at: before every turn, or also before and after every call to a model. */
  readonly clock: "turn" | "call";
  /** The results that a mediator is shown beside those of its batch: of the whole run, or, where a run is resumed without them, of the turn. */
  readonly priorResults: "run" | "turn";
};

/** What a run may spend on models, and what they cost. */
export type Funds = {
  /** The most that the run may use; null where there is no ceiling of its own. */
  readonly tokens: number | null;
  readonly nanodollars: number | null;
  /** Others draw on the same funds: what is left of them is asked before every call. */
  readonly isShared: boolean;
  /** In the order in which they are asked; prices are US dollars per million tokens. */
  readonly models: readonly {
    readonly price: { readonly input: number; readonly output: number; readonly cached?: number } | null;
    readonly maxOutputTokens: number | null;
  }[];
  /** The tokens of what every request holds beside the messages: instructions and tools. */
  readonly overhead: number;
  /** False when somebody else writes the summaries. */
  readonly paysSummaries: boolean;
};

/** When the turn of a side, and the session, are over. Names of tools are those under which they are declared. */
export type SideRules = {
  readonly isDual: boolean;
  /** The sides that a person, or code, speaks for. */
  readonly otherSides: readonly Side[];
  readonly stopOnResponse: boolean;
  readonly stopTool: string | null;
  /** The argument of the stop tool that is what the side says. */
  readonly stopToolResponseProperty: string | null;
  readonly sessionStop: string | null;
  readonly sessionFail: string | null;
  readonly maxSteps: { readonly a: number | null; readonly b: number | null };
  readonly maxSessionTurns: number | null;
  readonly hardCap: number;
  /** So many failures of one kind in a row end the run. */
  readonly mostRepeated: number;
  /** The turns that the sides had before this run. */
  readonly turns: Turns;
};

/** What does not change while one side, or one prompt that it uses as a tool, is at work. */
export type Config = {
  readonly key: string;
  /**
   * Goes into every hash of what a tool is called with that is written down, so that nobody can find a short secret by
   * trying; nothing where nothing is written down.
   */
  readonly salt: string;
  readonly maxTurns: number;
  readonly context: JsonMap;
  readonly budgets: Readonly<Record<string, Budget>>;
  /** True when a budget counts calls, of all tools or of one. */
  readonly countsCalls: boolean;
  /** True when the caller set a `turns` budget, which then replaces `maxTurns` and shows as the reason to stop. */
  readonly explicitTurns: boolean;
  /** Every declared tool, whether the model sees it or not. */
  readonly tools: ToolMap;
  /** The names of those that models may see at all, the others being for calls that code makes; null for all of them. */
  readonly offered: readonly string[] | null;
  /** True when the context says how calls may run; otherwise that is for each declaration to say. */
  readonly policesCalls: boolean;
  /** What the policies are told beside the context of the turn. */
  readonly policyContext: JsonMap;
  /** The executors that a declaration may ask for by name. */
  readonly executorTargets: readonly string[];
  /** True when the loop itself runs the tool calls. */
  readonly mediates: boolean;
  readonly callRules: readonly CallRule[];
  readonly compaction: CompactionPolicy | null;
  /** True when somebody keeps what the overflow archive takes out. */
  readonly archives: boolean;
  readonly spinThreshold: number | null;
  readonly failureThreshold: number | null;
  readonly truncateBytes: number | null;
  readonly storesRequests: boolean;
  readonly storesActions: boolean;
  readonly asked: Asked;
  readonly rules: Rules;
  /** Null where nobody counts what models cost. */
  readonly funds: Funds | null;
  /** Null for an agent without sides, whose run ends as a conversation does. */
  readonly sides: SideRules | null;
  /** How a prompt that is used as a tool gives its result; null where no such prompt is speaking. */
  readonly frame: SubPromptUse | null;
  /** The tools that are prompts, by the names under which they are declared. */
  readonly prompts: readonly string[];
};
