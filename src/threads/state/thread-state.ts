// What tools, hooks, effects and endpoints are given of the thread they act for. What a tool, hook or effect writes through
// it is kept until what it came to is committed, and is written with that or not at all; it reads its own writes.
import type { EffectStatus, VariableType } from "../../backend/write.ts";
import type { Json, JsonMap } from "../../contracts/json.ts";
import type { Side } from "../../contracts/standard/side.ts";
import type { StandardMessage } from "../../contracts/standard/standard-message.ts";

export type { Side };

/** A file of the thread that a message points to, or the content of a new one as base64. */
export type AttachmentInput =
  | string
  | { readonly path: string; readonly name?: string; readonly description?: string }
  | {
      readonly name: string;
      readonly mimeType: string;
      readonly data: string;
      readonly width?: number;
      readonly height?: number;
      readonly description?: string;
    };

export type StateMessageInput = {
  /** `user` unless given: who acts on it follows from the role. */
  readonly role?: "user" | "assistant" | "system";
  readonly content: string;
  readonly attachments?: readonly AttachmentInput[];
  readonly silent?: boolean;
  readonly metadata?: JsonMap;
};

export type MessageQuery = {
  readonly limit?: number;
  readonly offset?: number;
  readonly order?: "asc" | "desc";
  readonly includeSilent?: boolean;
  readonly maxDepth?: number;
};

export type MessagePage = {
  readonly messages: readonly StandardMessage[];
  readonly total: number;
  readonly hasMore: boolean;
};

/** A child as its parent's registry has it. */
export type ChildEntry = {
  readonly reference: string;
  readonly name: string;
  readonly relationship: string;
  readonly owner: Side;
  readonly title: string;
  readonly description: string;
  readonly blocking: boolean;
  readonly resumable: boolean;
  readonly receives_messages: "side_a" | "side_b";
  readonly parentCommunication: "implicit" | "explicit";
  readonly threadName: string;
  readonly initialArguments: JsonMap | null;
  readonly spawnGroupId: string | null;
  readonly createdAt: number;
  /** `running`, `idle`, `failed`, `terminated`, or what the child last said of itself. */
  readonly status: string;
};

export type FileStat = {
  readonly path: string;
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  readonly isDirectory: boolean;
  readonly width?: number;
  readonly height?: number;
  readonly metadata: JsonMap;
  readonly createdAt: number;
};

export type ScheduledEffect = {
  readonly id: string;
  readonly name: string;
  readonly args: JsonMap;
  readonly status: EffectStatus;
  readonly scheduledAt: number;
  readonly createdAt: number;
  readonly attempts: number;
  readonly error: string | null;
  readonly completedAt: number | null;
  readonly manualRun: boolean;
  readonly manualRunAt: number | null;
  readonly replayedFrom: string | null;
};

/** What an invoked tool came to. */
export type ToolOutcomeView = {
  readonly status: "success" | "error";
  readonly result?: Json;
  readonly error?: string;
};

/** The run that is under way. */
export type Execution = {
  readonly flowId: string;
  readonly currentSide: Side;
  readonly stepCount: number;
  readonly sideAStepCount: number;
  readonly sideBStepCount: number;
  readonly stopped: boolean;
  readonly stoppedBy: string | null;
  /** What the model was shown last. */
  readonly messageHistory: readonly StandardMessage[];
  /** The prompts that led here, the outermost first. */
  readonly promptPath: readonly string[];
  readonly abortSignal: AbortSignal;
  /** That side acts next, whatever the stop rules say; forcing the human's side ends the run. */
  forceTurn(side: Side): void;
  /** Ends the run after this tool: the calls behind it do not run. */
  stop(): void;
};

export interface ThreadState {
  readonly threadId: string;
  readonly agentId: string;
  readonly userId: string | null;
  /** Microseconds since 1970. */
  readonly createdAt: number;
  readonly terminated: number | null;
  /** What the thread was created with, as a subagent. */
  readonly arguments: JsonMap;
  /** The registry of this thread's children, read when asked for. */
  children(): Promise<readonly ChildEntry[]>;

  getMessages(query?: MessageQuery): Promise<MessagePage>;
  getMessage(id: string): Promise<StandardMessage | null>;
  /** Stores a message behind those there are, and starts nothing. */
  injectMessage(message: StateMessageInput): Promise<{ readonly id: string }>;
  /** Leaves a message that is acted on: before the next step of a run that is under way, or in a run of its own. */
  queueMessage(message: string | StateMessageInput): Promise<{ readonly id: string }>;
  /** Shown at once, and stored once no run is under way; its metadata is laid over what there is. False when unknown or queued. */
  updateMessage(id: string, updates: { readonly content?: string; readonly metadata?: JsonMap }): Promise<boolean>;
  /** With its calls, their results and the files that came with it; one that is queued is taken back. False when unknown. */
  deleteMessage(id: string): Promise<boolean>;
  getLogs(query?: {
    readonly limit?: number;
    readonly offset?: number;
    readonly order?: "asc" | "desc";
  }): Promise<readonly JsonMap[]>;

  loadModel(name: string): unknown;
  loadPrompt(name: string): unknown;
  loadAgent(name: string): unknown;
  getModelNames(): readonly string[];
  getPromptNames(): readonly string[];
  getAgentNames(): readonly string[];

  /** The value of a variable; throws `variable_missing`. */
  env(name: string): Promise<string>;
  envType(name: string): Promise<VariableType | null>;
  /** Also for the descendants that inherit it. A new one is secret unless `type` says otherwise. */
  setEnv(name: string, value: string, options?: { readonly type?: VariableType }): Promise<void>;
  instanceEnv(name: string): string | null;

  /** Null unless that is a child of this very thread. */
  getChildThread(reference: string): Promise<ThreadState | null>;
  getParentThread(): Promise<ThreadState | null>;
  notifyParent(text: string): Promise<void>;
  setStatus(status: string): Promise<void>;

  /** Has a tool run after the calls that are open; throws `tool_not_allowed` for one that is not among the caller's uses. */
  queueTool(name: string, args?: JsonMap): Promise<void>;
  /** Runs a tool now. Within a run nothing of it is stored; outside of one a silent message tells that it ran. */
  invokeTool(name: string, args?: JsonMap): Promise<ToolOutcomeView>;

  scheduleEffect(name: string, args?: JsonMap, delayMs?: number): Promise<string>;
  /** Those that wait for their time, the soonest first. */
  getScheduledEffects(name?: string): Promise<readonly ScheduledEffect[]>;
  /** False when it does not wait any more. It stays in the history as cancelled. */
  removeScheduledEffect(id: string): Promise<boolean>;

  /** Tells whoever follows the thread. Of another thread's state it tells nobody while a run is under way here. */
  emit(event: string, data?: Json): void;

  /** For this run alone; gone with it. */
  readonly context: Map<string, unknown>;
  getValue(key: string): Promise<Json | undefined>;
  /** Null and undefined delete it. */
  setValue(key: string, value: Json | undefined): Promise<void>;
  getUserValue(key: string): Promise<Json | undefined>;
  setUserValue(key: string, value: Json | undefined): Promise<void>;
  listUserValues(): Promise<JsonMap>;

  /** At most 32 MiB a file and 10,000 files a thread. */
  writeFile(
    path: string,
    content: string | Uint8Array,
    options?: {
      readonly mimeType?: string;
      readonly width?: number;
      readonly height?: number;
      readonly metadata?: JsonMap;
    },
  ): Promise<FileStat>;
  readFile(path: string): Promise<Uint8Array | null>;
  readFileStream(path: string): Promise<ReadableStream<Uint8Array> | null>;
  statFile(path: string): Promise<FileStat | null>;
  readdirFile(path: string): Promise<readonly FileStat[]>;
  /** False when there is no such file. */
  unlinkFile(path: string): Promise<boolean>;
  mkdirFile(path: string): Promise<void>;
  /** Only one that is empty. */
  rmdirFile(path: string): Promise<void>;
  /** A directory moves with its content. Nothing may stand at the destination. */
  moveFile(from: string, to: string): Promise<void>;
  renameFile(path: string, name: string): Promise<void>;
  getFileStats(): Promise<{ readonly files: number; readonly bytes: number }>;
  /**
   * Lines of text files that hold the pattern; between slashes (`/…/`, `/…/i`) it is a regular expression. At most 100 unless
   * `limit` says otherwise, and never more than 1,000.
   */
  grepFiles(
    pattern: string,
    options?: { readonly path?: string; readonly ignoreCase?: boolean; readonly limit?: number },
  ): Promise<readonly { readonly path: string; readonly line: number; readonly text: string }[]>;
  /** Paths that a glob names: `*` within a segment, `**` across segments. */
  findFiles(glob: string): Promise<readonly FileStat[]>;

  /** Null at rest. */
  readonly execution: Execution | null;
  /** Ends this thread and its descendants for good, once what is under way here is committed. */
  terminate(): Promise<void>;
  /** Ends the session as a success, or as what `status` says. */
  stopSession(options?: {
    readonly result?: string;
    readonly status?: "success" | "failure";
    readonly notifyParent?: boolean;
  }): void;
  /** Hands the thread over to another agent after this step. */
  runAgent(name: string): void;
}
