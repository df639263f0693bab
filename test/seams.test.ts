// Promise: no seam that the contracts name is forgotten. Each is a hook, or an option where one run or one host is meant, or
// stands here under what will bring it.
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { contractNames, gates } from "../src/contracts/seams.ts";

/** The seams that the source contracts name. */
const named: Readonly<Record<"the runtime" | "trust" | "orchestration", readonly string[]>> = {
  "the runtime": [
    ..."agents_api_loop_event agents_api_pre_tool_call_decision agents_api_tool_audit_parameters".split(" "),
    ..."agents_api_mediated_tool_result_diagnostics agents_api_tool_executors agents_api_resolved_tools".split(" "),
    ..."agents_api_tool_policy_providers agents_api_write_capable_categories agents_api_tool_action_policy".split(" "),
    ..."agents_api_action_policy_providers agents_api_approval_memory_store agents_api_runtime_tool_policy".split(" "),
    ..."agents_api_tool_sources agents_api_tool_source_order agents_api_tool_source_tools".split(" "),
    ..."wp_agent_runtime_tool_request_store wp_agent_runtime_tool_continuation".split(" "),
    ..."agents_api_runtime_tool_request_created agents_api_runtime_tool_result_submitted".split(" "),
    ..."agents_api_runtime_tool_request_timed_out agents_api_runtime_tool_request_resumed".split(" "),
    ..."wp_agent_runtime_package_run_handler wp_agent_runtime_package_run_status_handler".split(" "),
    ..."wp_agent_runtime_package_run_cancel_handler wp_agent_runtime_package_run_events_handler".split(" "),
    ..."agents_runtime_package_run_dispatch_failed wp_agent_provider_turn_dispatch".split(" "),
    ..."agents_api_provider_turn_retry_max_attempts agents_api_provider_turn_retry_base_delay".split(" "),
    ..."agents_api_provider_turn_retry_max_delay agents_api_provider_turn_request_timeout".split(" "),
    ..."agents_api_provider_turn_retry agents_api_ability_pre_execute_decision wp_agent_pending_action_store".split(
      " ",
    ),
    ..."agents_api_ability_invoked agents_api_ability_executed agents_api_tool_capability_denied".split(" "),
    ..."agents_api_runtime_profile_providers agents_api_resolved_agent_runtime_profile".split(" "),
    ..."wp_pre_execute_ability wp_ability_execute_result".split(" "),
  ],
  trust: [
    ..."agents_api_execution_principal wp_agent_known_auth_sources agents_api_autonomous_auth_sources".split(" "),
    ..."agents_api_autonomous_denied_capabilities agents_api_access_audiences_for_principal".split(" "),
    ..."agents_api_principal_is_autonomous wp_agent_can_access_agent wp_agent_access_store".split(" "),
    ..."wp_agent_memory_store wp_agent_identity_store wp_agent_conversation_store".split(" "),
    ..."wp_agent_pending_action_resolver agents_pending_action_permission agents_access_permission".split(" "),
    ..."agents_conversation_sessions_permission agents_api_memory_sources agents_api_context_sections".split(" "),
    ..."agents_api_composable_context_content wp_guideline_types wp_guidelines_substrate_enabled".split(" "),
    ..."agents_api_enable_default_conversation_store agents_api_enable_safe_workspace".split(" "),
    ..."agents_api_safe_workspace_root agents_api_safe_workspace_permission".split(" "),
    ..."wp_agent_chat_handler wp_agent_chat_stream_handler agents_chat_permission agents_chat_dispatch_failed".split(
      " ",
    ),
    ..."agents_chat_runtime_principal_permission agents_chat_run_read_permission".split(" "),
    ..."agents_chat_run_enqueue_permission agents_chat_run_cancel_permission".split(" "),
    ..."agents_chat_run_control_permission agents_chat_run_unredacted_read_permission".split(" "),
    ..."wp_agent_chat_message_queue_handler wp_agent_chat_run_status_handler".split(" "),
    ..."wp_agent_chat_run_events_handler wp_agent_chat_run_cancel_handler".split(" "),
    ..."wp_agent_dispatch_message_handler agents_dispatch_message_permission agents_dispatch_message_failed".split(" "),
    ..."agents_frontend_chat_rest_permission agents_frontend_chat_rest_input agents_chat_jsonrpc_permission".split(" "),
    ..."agents_chat_jsonrpc_input agents_chat_jsonrpc_terminal_frame".split(" "),
    ..."agents_api_runtime_agent_config agents_api_runtime_tool_declarations".split(" "),
  ],
  orchestration: [
    ..."wp_agents_api_init wp_agent_package_artifacts_init wp_agent_registered_agent_materialization_adapter".split(
      " ",
    ),
    ..."wp_agent_runtime_import_bundle wp_agent_execution_targets wp_agent_task_handler".split(" "),
    ..."wp_agent_task_run_status_handler wp_agent_task_run_cancel_handler".split(" "),
    ..."wp_agent_workflow_handler wp_agent_workflow_known_step_types wp_agent_workflow_known_trigger_types".split(" "),
    ..."agents_run_workflow_dispatch_failed agents_run_workflow_permission agents_validate_workflow_permission".split(
      " ",
    ),
    ..."agents_workflow_run_read_permission agents_workflow_run_unredacted_read_permission".split(" "),
    ..."agents_workflow_run_cancel_permission wp_agent_workflow_run_cancel_handler".split(" "),
    ..."wp_agent_workflow_run_events_handler wp_agent_workflow_enabled wp_agent_workflow_disabled".split(" "),
    ..."wp_agent_workflow_reconcile_lock wp_agent_workflow_branch_store_put wp_agent_workflow_branch_store_get".split(
      " ",
    ),
    ..."wp_agent_workflow_branch_store_forget".split(" "),
    ..."wp_agent_workflow_step_handlers wp_agent_workflow_step_executor wp_agent_workflow_run_recorder".split(" "),
    ..."wp_agent_workflow_run_status_handler wp_agent_workflow_registered wp_agent_workflow_saved".split(" "),
    ..."wp_agent_workflow_deleted wp_agent_workflow_run_completed wp_agent_workflow_schedule_requested".split(" "),
    ..."wp_agent_workflow_should_fanout wp_agent_workflow_resume_dispatch wp_agent_workflow_resume_runner".split(" "),
    ..."wp_agent_event_trigger_registered wp_agent_event_trigger_dispatched".split(" "),
    ..."wp_agent_event_trigger_dispatch_failed wp_agent_routine_registered wp_agent_routine_run_completed".split(" "),
    ..."wp_agent_routine_schedule_requested".split(" "),
  ],
};

/** Seams of the runtime that are no hooks, because they belong to one run or one adapter: where they went. */
const options: Readonly<Record<string, string>> = {
  agents_api_tool_executors: "namedToolExecutors",
  wp_agent_runtime_tool_request_store: "runtimeToolStore",
  wp_agent_runtime_tool_continuation: "continuation",
  wp_agent_provider_turn_dispatch: "createProviderTurnAdapter",
  agents_api_provider_turn_retry_max_attempts: "createProviderTurnAdapter",
  agents_api_provider_turn_retry_base_delay: "createProviderTurnAdapter",
  agents_api_provider_turn_retry_max_delay: "createProviderTurnAdapter",
  agents_api_provider_turn_request_timeout: "createProviderTurnAdapter",
  // The result of an ability is observed through abilityExecuted, and changed by nobody.
  wp_ability_execute_result: "abilityExecuted",
};

/** Seams of the chat that belong to a door of their own. */
const LATER: readonly string[] = [
  "wp_agent_chat_stream_handler",
  "agents_frontend_chat_rest_permission",
  "agents_frontend_chat_rest_input",
  "agents_chat_jsonrpc_permission",
  "agents_chat_jsonrpc_input",
  "agents_chat_jsonrpc_terminal_frame",
];

/** Seams of a queue of branches, which threads and child runs take the place of; and whoever drives a run drives it on. */
const NOT_NEEDED: readonly string[] = [
  ..."wp_agent_workflow_resume_runner wp_agent_workflow_branch_store_put".split(" "),
  ..."wp_agent_workflow_branch_store_get wp_agent_workflow_branch_store_forget".split(" "),
];

const root = fileURLToPath(new URL("..", import.meta.url));

describe("the hooks", () => {
  const hooks = Object.values(contractNames);

  it("hold every seam of the runtime that is no option", () => {
    const missing = named["the runtime"].filter((seam) => !hooks.includes(seam) && !Object.hasOwn(options, seam));
    expect(missing).toEqual([]);
  });

  it("hold none that a contract does not name, and none twice", () => {
    expect(hooks.filter((hook) => !Object.values(named).flat().includes(hook))).toEqual([]);
    expect(new Set(hooks).size).toBe(hooks.length);
    expect(hooks.filter((hook) => Object.hasOwn(options, hook))).toEqual([]);
  });

  it("hold every seam of the chat that nobody else brings", () => {
    const ofChat = named.trust.filter((seam) => /(^|_)chat_|dispatch_message|runtime_(agent|tool)_/.test(seam));
    expect(ofChat.filter((seam) => !hooks.includes(seam) && !LATER.includes(seam))).toEqual([]);
  });

  it("hold every seam of workflows that nobody else brings, and none yet of the rest of orchestration", () => {
    const isBuilt = (seam: string) => seam.includes("workflow") && !NOT_NEEDED.includes(seam);
    expect(named.orchestration.filter((seam) => hooks.includes(seam))).toEqual(named.orchestration.filter(isBuilt));
  });

  it("are named by one contract each", () => {
    const all = Object.values(named).flat();
    expect(new Set(all).size).toBe(all.length);
  });

  it("are all asked or told somewhere", () => {
    const sources = globSync("src/**/*.ts", { cwd: root }).filter(
      (path) => !path.endsWith(".test.ts") && !path.endsWith("seams.ts"),
    );
    const code = sources.map((path) => readFileSync(`${root}/${path}`, "utf8")).join("\n");
    expect(Object.keys(contractNames).filter((hook) => !code.includes(`"${hook}"`))).toEqual([]);
  });

  it("are listed in the documentation, each under its own name and with the word gate where it is one", () => {
    const page = readFileSync(new URL("../docs/concepts/hooks.md", import.meta.url), "utf8");
    const rows = page.split("\n").filter((line) => line.startsWith("| `"));
    for (const [hook, contractName] of Object.entries(contractNames)) {
      const row = rows.find((line) => line.includes(`\`${hook}\``) && line.includes(`\`${contractName}\``));
      expect(row, `${hook} has no row`).toBeDefined();
      expect(row?.includes("| gate |"), `${hook} is a gate or not`).toBe(gates.has(hook as never));
    }
  });
});
