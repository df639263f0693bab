// holdfast tokens …: who may come through the door, and with what at most.
import type { JsonMap } from "../../contracts/json.ts";
import { time, whole } from "../read-option.ts";
import { table } from "../terminal.ts";
import type { Verb } from "../verb.ts";

type TokensPage = { readonly tokens: readonly JsonMap[]; readonly has_more: boolean };

export const tokenVerbs: readonly Verb[] = [
  {
    name: "tokens create",
    summary: "make a token; it is shown once",
    takes: { "<agent>": "the agent that whoever holds it acts as" },
    options: {
      "--user <number>": "the user for whom it acts; the owner unless given",
      "--label <words>": "to tell it from others",
      "--allow <capability...>": "all that it may do; whatever its user may unless given",
      "--expires <time>": "such as 2027-01-31T12:00:00Z; never unless given",
      "--client <id>": "the client it is for",
      "--workspace <id>": "where it counts",
      "--unchecked": "take names of agents and capabilities that are not known here",
    },
    async run({ given, terminal, client }) {
      const { agent, label, allow, client: client_id, workspace: workspace_id } = given;
      const expires_at = time("--expires", given.expires);
      const unchecked = given.unchecked === true;
      const input = { agent, label, allowed_capabilities: allow, expires_at, client_id, workspace_id, unchecked };
      const made = await (await client()).call<{ token: string; metadata: JsonMap }>("holdfast/create-token", {
        ...input,
        owner_user_id: whole("--user", given.user),
      });
      terminal.note("It is shown this once, and kept nowhere:");
      terminal.answer(made, ({ token }) => token);
    },
  },
  {
    name: "tokens list",
    summary: "the tokens there are, without their text",
    options: { "--agent <slug>": "only those of an agent", "--revoked": "also revoked ones" },
    async run({ given, terminal, client }) {
      const input = { agent: given.agent, revoked: given.revoked === true, limit: 500 };
      const runtime = await client();
      const found: JsonMap[] = [];
      for (let after: unknown = 0, hasMore = true; hasMore; after = found.at(-1)?.token_id) {
        const page = await runtime.call<TokensPage>("holdfast/list-tokens", { ...input, after });
        found.push(...page.tokens);
        hasMore = page.has_more && page.tokens.length > 0;
      }
      terminal.answer({ tokens: found }, ({ tokens }) => {
        if (tokens.length === 0) return "There are no tokens.";
        const rows = tokens.map((each) => [
          ...[each.token_id, `${String(each.token_prefix)}…`, each.agent_id, each.owner_user_id].map(String),
          each.last_used_at === null ? "never used" : String(each.last_used_at),
          ...(input.revoked ? [each.revoked_at === null ? "no" : String(each.revoked_at)] : []),
          String(each.label),
        ]);
        const revoked = input.revoked ? ["REVOKED"] : [];
        return table([["ID", "TOKEN", "AGENT", "USER", "LAST USED", ...revoked, "LABEL"], ...rows]);
      });
    },
  },
  {
    name: "tokens revoke",
    summary: "from now on it lets nobody in",
    takes: { "<id>": "its number" },
    async run({ given, terminal, client }) {
      const input = { token_id: whole("<id>", given.id) };
      const answer = await (await client()).call<{ revoked: boolean }>("holdfast/revoke-token", input);
      terminal.answer(answer, ({ revoked }) => (revoked ? "Revoked." : "It was revoked before."));
    },
  },
];
