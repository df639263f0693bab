// The token of an agent may not manage the gateway or the installation.
import type { Principal } from "../../../contracts/trust/principal.ts";
import type { KnownSecrets } from "../../../threads/secrets/known-secrets.ts";
import type { Authority } from "../../../trust/authority.ts";
import type { Tokens } from "../../../trust/tokens.ts";
import type { LocatedProblem } from "../../../yaml/place.ts";
import type { GatewayConfig } from "../../config/gateway-config.ts";
import type { Plugin } from "../../plugins/plugin.ts";

export type AgentTokenOptions = {
  readonly config: GatewayConfig;
  readonly plugins: ReadonlyMap<string, Plugin>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tokens: Pick<Tokens, "authenticate">;
  readonly authority: Pick<Authority, "within">;
  /** Learns the tokens, so that they are redacted wherever they appear. */
  readonly secrets: KnownSecrets;
};

/** What the scopes `admin:*` and `system:rw` stand for. */
const forbidden = ["gateway.manage", "tokens.manage", "operate"] as const;

export async function agentTokenProblems(options: AgentTokenOptions): Promise<readonly LocatedProblem[]> {
  const { config, plugins, env, tokens, secrets } = options;
  const problems: LocatedProblem[] = [];
  for (const { name, token_ref, place } of config.plugins.values()) {
    const token = token_ref === null ? undefined : env[token_ref];
    if (token === undefined) continue;
    secrets.add(token);
    if (!plugins.get(name)?.isAgent) continue;
    const principal = await tokens.authenticate(token);
    const problem = principal === null ? "is unknown or revoked" : await excess(options, principal);
    if (problem !== undefined) problems.push({ ...place, message: `The token of the agent ${name} ${problem}.` });
  }
  return problems;
}

async function excess({ authority }: AgentTokenOptions, principal: Principal): Promise<string | undefined> {
  for (const capability of forbidden) {
    if (await authority.within(principal, capability)) return `may not have the capability ${capability}`;
  }
  return undefined;
}
