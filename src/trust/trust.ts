// Who is asked when something depends on trust: what a principal may do, what people have agreed to, who may decide.
import type { CanDecide } from "../contracts/trust/approver-rule.ts";
import type { ConsentPolicy } from "../contracts/trust/consent.ts";
import type { Authority } from "./authority.ts";

export type Trust = {
  readonly authority: Authority;
  readonly consent: ConsentPolicy;
  /** The host's own say, after every rule. */
  readonly canDecide?: CanDecide;
};
