// Who tries to decide, and who of them may: in words of the test, not of the product.
import type { UnknownMap } from "../../src/contracts/json.ts";

export type Person = {
  readonly name: string;
  readonly user: number;
  /** Undefined where the program itself decides. */
  readonly principal: UnknownMap | undefined;
  readonly isAgent?: boolean;
  /** May read, whatever the user may. */
  readonly isNarrowed?: boolean;
};

const signedIn = (user: number, more: UnknownMap = {}): UnknownMap => ({
  ...{ acting_user_id: user, effective_agent_id: "shop", auth_source: "user", request_context: "chat" },
  ...more,
});

const reads = { user_id: 12, allowed_capabilities: ["read"] };

/** Where the program itself decides. */
export const nobody: Person = { name: "nobody", user: 0, principal: undefined };

export const people: readonly Person[] = [
  ...[12, 13, 7, 8].map((user) => ({ name: `user ${user}`, user, principal: signedIn(user) })),
  { name: "user 12 who may read", user: 12, isNarrowed: true, principal: signedIn(12, { capability_ceiling: reads }) },
  nobody,
  {
    ...{ name: "the agent's token", user: 12, isAgent: true },
    principal: signedIn(12, { auth_source: "agent_token", token_id: 3 }),
  },
  {
    ...{ name: "the agent's runtime", user: 0, isAgent: true },
    principal: signedIn(0, { auth_source: "runtime", audience_id: "sandbox" }),
  },
];

/** The words that are kept with what somebody decided. */
export function resolverOf({ name, user, principal }: Person): string {
  if (!principal) return name;
  return user > 0 ? `user:${user}` : String(principal.auth_source);
}

const answers: readonly ((person: Person, requester: number) => boolean)[] = [
  ({ user }) => user === 12,
  ({ user }, requester) => (user === 13 || user === 7) && user !== requester,
  ({ user, isNarrowed }, requester) => (user === 12 || user === 8) && !isNarrowed && user !== requester,
];

/** Whether somebody may decide about what the requester's thread asked for, under a rule by its number. */
export function mayDecide(rule: number, person: Person, requester: number): boolean {
  if (person.isAgent) return false;
  const answer = answers[rule];
  return !answer || (person.principal !== undefined && answer(person, requester));
}
