// One request of protocol v2 as text, and the response to it: the agent under any gateway that speaks the protocol.
import { trimmed } from "../../../contracts/coerce.ts";
import { errorMessage } from "../../../contracts/error.ts";
import { readHints } from "../../../contracts/gateway/agent/agent-hints.ts";
import type { GatewayEvent } from "../../../contracts/gateway/protocol/event.ts";
import type { PluginRequest } from "../../../contracts/gateway/protocol/request.ts";
import type { PluginResponse } from "../../../contracts/gateway/protocol/response.ts";
import { isMap, type JsonMap, snapshotMap, type UnknownMap } from "../../../contracts/json.ts";
import type { Environment } from "../../../models/choose/named-model.ts";
import { readNames } from "../agent-config.ts";
import { refuse } from "../answer.ts";
import { lazyPlanner } from "../planner/lazy-planner.ts";
import { modelPlanner } from "../planner/model-planner.ts";
import type { RoutableTool } from "../tools.ts";
import { takeTurn } from "../turn.ts";
import { modelFromConfig } from "./model-from-config.ts";
import { processWorkspaces } from "./process-workspaces.ts";

/** Never throws: what cannot be read is answered with an error that is not worth a retry. */
export async function answerRequest(
  input: string,
  { env, now = () => new Date() }: { readonly env: Environment; readonly now?: () => Date },
): Promise<PluginResponse> {
  let request: PluginRequest;
  try {
    request = readRequest(parsed(input));
  } catch (thrown) {
    return refuse({}, `the request cannot be read: ${errorMessage(thrown)}`);
  }
  const { config, context, workspace_dir } = request;
  return await takeTurn(request, {
    planner: lazyPlanner(async () => modelPlanner((await modelFromConfig(config, env)).ask)),
    workspaces: processWorkspaces({
      root: readHints(context).workspaceRoot,
      folder: trimmed(workspace_dir),
      configuredRoot: trimmed(config.workspace_root),
    }),
    clock: now,
    routableTools: routableTools(config),
    // Which other plugins are agents only the gateway knows.
    agentNames: new Set(readNames(config.agent_names)),
  });
}

// What the parser says of a text quotes it, and a request may hold secrets.
function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    throw new Error("it is no JSON");
  }
}

/** The request as a turn takes it; what a plugin may ignore or leave out has a value. Throws for what is no request. */
export function readRequest(value: unknown): PluginRequest {
  if (!isMap(value)) throw new Error("it must be a JSON object");
  const { protocol, job_id, command, workspace_dir, deadline_at } = value;
  if (protocol !== 2) throw new Error(`it must be of protocol 2, not ${JSON.stringify(protocol)}`);
  if (typeof command !== "string" || typeof job_id !== "string") throw new Error("it needs a command and a job_id");
  return {
    protocol,
    job_id,
    command,
    config: snapshotMap(value.config),
    state: snapshotMap(value.state),
    context: snapshotMap(value.context),
    ...(isMap(value.payload) && { payload: snapshotMap(value.payload) }),
    ...(typeof workspace_dir === "string" && { workspace_dir }),
    ...(isMap(value.event) && { event: readEvent(value.event) }),
    deadline_at: typeof deadline_at === "string" ? deadline_at : "",
  };
}

function readEvent({ type, payload, source, timestamp, event_id, dedupe_key }: UnknownMap): GatewayEvent {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return {
    type: text(type),
    payload: snapshotMap(payload),
    source: text(source),
    timestamp: text(timestamp),
    event_id: text(event_id),
    ...(typeof dedupe_key === "string" && { dedupe_key }),
  };
}

/**
 * `config.routable_tools`: names, or maps with a name, a description and commands; every allowed tool where it is absent.
 */
function routableTools({ routable_tools, allowed_plugins }: JsonMap): ReadonlyMap<string, RoutableTool> {
  const listed = routable_tools === undefined || routable_tools === null ? allowed_plugins : routable_tools;
  return new Map((Array.isArray(listed) ? listed : []).flatMap(readTool));
}

function readTool(value: unknown): [string, RoutableTool][] {
  const about = isMap(value) ? value : { name: value };
  const name = trimmed(about.name);
  if (name === undefined) return [];
  const description = trimmed(about.description);
  const input_schema = isMap(about.input_schema) ? snapshotMap(about.input_schema) : undefined;
  const commands = [{ name: "handle", description: "", ...(input_schema && { input_schema }) }];
  // The tool, and the turn that goes on with its result.
  const jobs = 2;
  return [[name, { plugins: [name], jobs, ...(description !== undefined && { description }), commands }]];
}
