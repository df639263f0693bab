// Whether somebody may decide about a proposed action: asked at the moment of the decision, of whoever decides.
import type { StoredRequest } from "../../backend/request-store.ts";
import { type HoldfastError, holdfastError } from "../../contracts/error.ts";
import { type ApproverRule, type Asked, isAgentItself, refusalOf } from "../../contracts/trust/approver-rule.ts";
import type { PendingAction } from "../../contracts/trust/pending-action.ts";
import type { Principal } from "../../contracts/trust/principal.ts";
import * as principals from "../../contracts/trust/principal.ts";
import type { Host } from "../host.ts";
import { subjectOf } from "../subject.ts";
import { agentsOfRun, isOfRun } from "./of-run.ts";
import { approversOf, creatorOf, toolAsked } from "./terms.ts";

/** Why the decision is refused; undefined when it may be made. `by`: null where the program itself decides. */
export async function decisionRefusal(
  host: Host,
  request: StoredRequest,
  by: Principal | null,
  decided: { readonly decision: "accepted" | "rejected"; readonly action: () => PendingAction },
): Promise<HoldfastError | undefined> {
  const refused = (why: string) =>
    holdfastError("approval_forbidden", `Request "${request.id}" is not theirs to decide: ${why}.`);
  const rule = ruleOf(host, request);
  if (rule && !by) return refused("the rule asks who decides, and nobody is named");
  const asked = by && (await askedBy(host, request));
  if (by && asked && isAgentItself(by, asked)) return refused("an agent does not decide about its own actions");
  const words = rule && by && asked && (await ruleRefusal(host, request, { rule, by, asked }));
  if (words) return refused(words);
  const { canDecide } = host.trust;
  if (!canDecide) return undefined;
  try {
    if ((await canDecide(decided.action(), decided.decision, by)) === true) return undefined;
  } catch (thrown) {
    return holdfastError("approval_forbidden", `Whether request "${request.id}" is theirs could not be told.`, thrown);
  }
  return refused("the host says so");
}

/**
 * True when a rule calls the principal to decide, by name, capability or role, where he is: then a request is his business
 * though its thread is not. One that only keeps the requester out calls nobody.
 */
export async function isApprover(host: Host, request: StoredRequest, by: Principal): Promise<boolean> {
  const rule = request.kind === "approval" ? ruleOf(host, request) : undefined;
  if (!rule || (rule.users ?? rule.capability ?? rule.role) === undefined) return false;
  if (rule.users && !rule.users.includes(by.acting_user_id)) return false;
  // What is told by little comes first: lists ask this about one request after the other.
  const { authority } = host.trust;
  if (rule.capability !== undefined && !(await authority.allows(by, rule.capability))) return false;
  if (rule.role !== undefined && !(await authority.hasRole(by, request.terms.agent, rule.role))) return false;
  const asked = await askedBy(host, request);
  // Whoever was let in for one workspace has no business in another, whatever he may do in his own.
  const place = request.terms.workspace_id ?? asked.requester.workspace_id;
  if (by.workspace_id !== null && by.workspace_id !== place) return false;
  return (await ruleRefusal(host, request, { rule, by, asked })) === undefined;
}

/** Why the rule keeps somebody from deciding, in words. */
async function ruleRefusal(
  { trust: { authority } }: Host,
  { terms }: StoredRequest,
  { rule, by, asked }: { readonly rule: ApproverRule; readonly by: Principal; readonly asked: Asked },
): Promise<string | undefined> {
  // Whom it is bound to asked for it. Another thread's requester would open it to who must not decide.
  if (creatorOf(asked.requester) !== terms.creator) return "it is not that thread's";
  return await refusalOf(rule, by, asked, {
    authorize: (principal, capability) => authority.allows(principal, capability),
    hasRole: (principal, agent, role) => authority.hasRole(principal, agent, role),
  });
}

/** The rule of the tool that was asked about; where that is not known any more, the one under which it was asked. */
function ruleOf(host: Host, request: StoredRequest): ApproverRule | undefined {
  const { terms } = request;
  const agent = host.agents.get(terms.agent);
  const tool = toolAsked(host, request);
  if (agent && tool) return approversOf(agent, tool);
  return terms.approvers === null ? undefined : (JSON.parse(terms.approvers) as ApproverRule);
}

/** Who asked, and all on whose behalf: none of them decides about it. */
async function askedBy(host: Host, request: StoredRequest): Promise<Asked> {
  const { thread_id, terms } = request;
  const { agents, stores } = host;
  const stored = await stores.subjects.get(thread_id);
  const agent = agents.get(terms.agent);
  const requester = stored
    ? principals.fromArray(JSON.parse(stored.principal))
    : agent && subjectOf(agent, null).principal;
  const isRun = isOfRun({ thread_id, shown: JSON.parse(request.shown) });
  const thread = isRun ? undefined : await stores.threads.get(thread_id);
  const above = thread?.parent_id === null ? [] : await stores.threads.ancestors(thread_id);
  const ancestors = above.flatMap((each) => (each.kind === "thread" ? [each.agent, each.origin_agent] : []));
  const asking = requester ?? principals.system(terms.agent);
  const ofRun = isRun ? await agentsOfRun(host, thread_id, asking) : [];
  return {
    agent: terms.agent,
    requester: asking,
    ...(thread && { origin_agent: thread.origin_agent }),
    ancestors: [...ancestors, ...ofRun],
  };
}
