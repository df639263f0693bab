// The careful default for whoever acts on nobody's behalf: unless a ceiling says what it may do, it may not change
// content, accounts or the program. An option; without it a principal keeps the ceiling it has.
import { scalarText, stringList } from "../coerce.ts";
import { seal } from "../json.ts";
import type { CapabilityCeiling } from "./capability-ceiling.ts";
import type { Principal } from "./principal.ts";

/** What a host may set; a list that it gives takes the place of the one here. */
export type AutonomousPolicy = {
  /** False unless given: then nothing is denied here. */
  readonly enabled?: boolean | undefined;
  readonly authSources?: readonly unknown[] | undefined;
  /** Has the last word on who counts as autonomous. */
  readonly isAutonomous?: ((autonomous: boolean, principal: Principal) => boolean) | undefined;
  readonly deniedCapabilities?: readonly unknown[] | undefined;
};

const autonomousAuthSources = ["system", "runtime", "agent_token"] as const satisfies readonly string[];

const deniedByDefault = [
  ...["edit_posts", "edit_others_posts", "edit_published_posts", "publish_posts"],
  ...["delete_posts", "delete_others_posts", "delete_published_posts"],
  ...["edit_pages", "edit_others_pages", "edit_published_pages", "publish_pages"],
  ...["delete_pages", "delete_others_pages", "delete_published_pages"],
  ...["manage_categories", "manage_options", "upload_files", "unfiltered_html"],
  ...["edit_themes", "update_themes", "edit_plugins", "update_plugins", "install_plugins", "activate_plugins"],
  ...["create_users", "delete_users", "promote_users"],
] as const satisfies readonly string[];

/** True for a principal that acts on nobody's behalf, by how it was authenticated. */
export function isAutonomous(principal: Principal, policy: AutonomousPolicy = {}): boolean {
  const sources = names(policy.authSources ?? autonomousAuthSources);
  const autonomous = sources.includes(principal.auth_source);
  return policy.isAutonomous ? policy.isAutonomous(autonomous, principal) === true : autonomous;
}

/**
 * The ceiling to hold a principal to. With the policy on, an autonomous one whose ceiling declares neither what is
 * allowed nor what is denied gets the default; an empty deny list is a declaration, and the way to opt out.
 */
export function resolveCeiling(principal: Principal, policy: AutonomousPolicy = {}): CapabilityCeiling | null {
  const own = principal.capability_ceiling;
  if (policy.enabled !== true || isDeclared(own) || !isAutonomous(principal, policy)) return own;
  return seal({
    user_id: principal.acting_user_id,
    allowed_capabilities: null,
    denied_capabilities: seal(names(policy.deniedCapabilities ?? deniedByDefault)),
    metadata: seal({ autonomous_safe_default: true, source: "wp_agent_autonomous_capability_policy" }),
  });
}

function isDeclared(ceiling: CapabilityCeiling | null): boolean {
  return ceiling !== null && (ceiling.allowed_capabilities !== null || ceiling.denied_capabilities !== null);
}

function names(given: readonly unknown[]): string[] {
  return stringList(given.map((name) => scalarText(name)));
}
