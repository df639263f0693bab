// One turn of an agent: a request in, a response out. What it needs besides comes through ports, so that a turn in the
// gateway, in a process of its own and in a test are the same turn.
import { nonBlank } from "../../contracts/coerce.ts";
import { errorMessage, HoldfastError } from "../../contracts/error.ts";
import { readTypedResult, synthesizedResult } from "../../contracts/gateway/agent/agentic-result.ts";
import { derivedRunId, readRuns } from "../../contracts/gateway/agent/agentic-run.ts";
import { AGENTIC_START, readCorrelation, TOOL_RESULT } from "../../contracts/gateway/agent/correlation.ts";
import type { PluginRequest } from "../../contracts/gateway/protocol/request.ts";
import type { ErrorResponse, OkResponse, PluginResponse } from "../../contracts/gateway/protocol/response.ts";
import { withoutKeys } from "../../models/without-keys.ts";
import { logLine, refuse } from "./answer.ts";
import { cancelRun } from "./cancel-run.ts";
import { poll } from "./poll.ts";
import { resumeRun } from "./resume-run.ts";
import { startRun } from "./start-run.ts";
import { beginTurn, type Turn, type TurnPorts } from "./turn-ports.ts";

/** What a direct call of the agent's `handle` arrives as. */
const API_TRIGGER = "api.trigger";

/**
 * Takes one turn. Everything that goes wrong is an answer with `status: error`; only an abort is thrown. Of a turn that
 * is not answered with `ok` nothing takes effect, and it may be taken again.
 */
export async function takeTurn(request: PluginRequest, ports: TurnPorts): Promise<PluginResponse> {
  try {
    const turn = beginTurn(request, ports);
    switch (request.command) {
      case "handle":
        return await handle(turn);
      case "poll":
        return await poll(turn);
      case "health":
        return health(turn);
      case "cancel":
        return await cancelRun(turn);
      default:
        return refuse({}, `the agent has no command ${JSON.stringify(request.command)}`);
    }
  } catch (thrown) {
    ports.signal?.throwIfAborted();
    return failed(request, thrown);
  }
}

async function handle(turn: Turn): Promise<PluginResponse> {
  const { event, context = {} } = turn.request;
  if (!event) return refuse({}, "handle needs an event");
  const { type, payload } = event;
  // Inside the pipeline of a tool request every event is the tool's answer: no run is started from inside of another.
  const isOfRun = readCorrelation(context) !== undefined;
  if ((type === AGENTIC_START || type === API_TRIGGER) && !isOfRun) return await startRun(turn, payload);
  const result = type === TOOL_RESULT ? readTypedResult(payload, context) : synthesizedResult(payload, context);
  if (result) return await resumeRun(turn, result);
  const about = runNamed(turn.request);
  if (type === TOOL_RESULT) return refuse(about, `${TOOL_RESULT} needs run_id, step, tool and status`);
  return refuse(about, `the agent cannot handle an event of type ${JSON.stringify(type)}`);
}

function health({ state, config }: Turn): OkResponse {
  const runs = readRuns(state);
  const running = runs.filter(({ run }) => run.status === "running").length;
  const { max_steps, max_reframes } = config;
  const result = `max_steps ${max_steps}, max_reframes ${max_reframes}, ${runs.length} runs tracked, ${running} running`;
  return { status: "ok", result, events: [], logs: [logLine("info", {}, `health: ${result}`)] };
}

function failed(request: PluginRequest, thrown: unknown): ErrorResponse {
  const error = withoutKeys(errorMessage(thrown));
  const retry = !(thrown instanceof HoldfastError && hopeless.has(thrown.code));
  return { status: "error", error, retry, logs: [logLine("error", runNamed(request), error)] };
}

/** What the next attempt would fail with too: there is no such model, it refuses the request, or there is no workspace. */
const hopeless: ReadonlySet<string> = new Set([
  ...["model_refused", "model_name_invalid", "model_provider_unknown", "model_key_missing", "model_package_missing"],
  ...["model_package_failed", "model_not_named", "model_interface_unknown", "invalid_model", "script_ended"],
  ...["invalid_argument", "invalid_file_path"],
]);

/** The run that a request is about, as far as it says. */
function runNamed({ event, context = {}, job_id }: PluginRequest): { readonly run_id: string } {
  return { run_id: nonBlank(event?.payload.run_id) ?? nonBlank(context.run_id) ?? derivedRunId(job_id) };
}
