// A plugin written in the program itself: commands as functions, without a process.
import { errorMessage } from "../../contracts/error.ts";
import type { EmittedEvent } from "../../contracts/gateway/protocol/event.ts";
import type { CommandType, Manifest } from "../../contracts/gateway/protocol/manifest.ts";
import type { PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import { decodeResponse, type LogEntry } from "../../contracts/gateway/protocol/response.ts";
import type { JsonMap } from "../../contracts/json.ts";
import type { Execution } from "./plugin.ts";
import type { BuiltInPlugin } from "./resolve-plugins.ts";

/** What a command answers: a text alone, or all that a plugin may answer. */
export type CommandAnswer =
  | string
  | {
      readonly result?: string;
      readonly events?: readonly Partial<EmittedEvent>[];
      readonly state_updates?: JsonMap;
      readonly logs?: readonly LogEntry[];
    };

export type InProcessCommand = {
  readonly type?: CommandType;
  readonly description?: string;
  readonly input_schema?: JsonMap;
  /** What it throws fails the attempt, which is tried again unless the error has `retry: false`. */
  readonly run: (
    request: PluginRequest,
    options: { readonly signal: AbortSignal },
  ) => CommandAnswer | undefined | Promise<CommandAnswer | undefined>;
};

export type InProcessPluginDefinition = {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  /** True when several of its jobs may run at once. */
  readonly concurrency_safe?: boolean;
  readonly commands: Readonly<Record<string, InProcessCommand>>;
};

/** A plugin for `createHoldfast({ gateway: { config, plugins: [...] } })`. Its answers are checked like those of a process. */
export function gatewayPlugin(definition: InProcessPluginDefinition): BuiltInPlugin {
  const { commands } = definition;
  return {
    manifest: manifestOf(definition),
    async run(request, { timeoutMs, signal }) {
      const command = Object.hasOwn(commands, request.command) ? commands[request.command] : undefined;
      if (!command) return failed(`There is no command "${request.command}".`, false);
      const deadline = AbortSignal.timeout(timeoutMs);
      const until = AbortSignal.any([signal, deadline]);
      // A signal of its own: a lease that is lost after the command has ended is not the command's business.
      const running = new AbortController();
      const cutOff = () => running.abort(until.reason);
      if (until.aborted) cutOff();
      until.addEventListener("abort", cutOff, { once: true });
      try {
        const answer = await Promise.race([command.run(request, { signal: running.signal }), rejectionOf(until)]);
        const stdout = JSON.stringify({
          status: "ok",
          ...(typeof answer === "string" ? { result: answer } : { result: "ok", ...answer }),
        });
        return { ...decodeResponse({ stdout, exitCode: 0 }), stdout, ...nothingElse };
      } catch (thrown) {
        if (signal.aborted) return { outcome: "aborted", stdout: "", ...nothingElse };
        if (deadline.aborted) return { ...timedOut(timeoutMs), stdout: "", ...nothingElse };
        return failed(errorMessage(thrown), !isPermanent(thrown));
      } finally {
        until.removeEventListener("abort", cutOff);
      }
    },
  };
}

const nothingElse = { stderr: "", exit_code: null };

function failed(error: string, retry: boolean): Execution {
  const stdout = JSON.stringify({ status: "error", error, retry });
  return { ...decodeResponse({ stdout, exitCode: 0 }), stdout, ...nothingElse };
}

function timedOut(timeoutMs: number) {
  const error = `The plugin did not end within ${timeoutMs} ms.`;
  return { outcome: "timed_out", reason: "timeout", retryable: true, error, logs: [] } as const;
}

function isPermanent(thrown: unknown): boolean {
  return typeof thrown === "object" && thrown !== null && "retry" in thrown && thrown.retry === false;
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function manifestOf({
  name,
  version = "0",
  description = "",
  concurrency_safe = true,
  commands,
}: InProcessPluginDefinition): Manifest {
  return {
    ...{ name, version, description, concurrency_safe, entrypoint: "", fact_outputs: [], required_config: [] },
    commands: Object.entries(commands).map(([command, { type = "write", description: about = "", input_schema }]) => ({
      ...{ name: command, type, description: about },
      ...(input_schema && { input_schema }),
    })),
  };
}
