// What a context and its policy fragments say about which tools the model sees, read once so that it can be asked of
// every tool.
import { scalarText, stringList, trimmed, wholeNumber } from "../coerce.ts";
import { isMap, type UnknownMap } from "../json.ts";
import { agentConfigOf } from "./agent-config.ts";

/** Tools, by their own names or by categories. */
export type Listed = { readonly names: ReadonlySet<string>; readonly categories: ReadonlySet<string> };

export type VisibilityPolicy = {
  /** What the run is; `""` when tools of every mode are wanted. */
  readonly mode: string;
  /** What each fragment that lists tools does with them, in order. */
  readonly steps: readonly (Listed & { readonly mode: "allow" | "deny" })[];
  readonly categories: ReadonlySet<string>;
  readonly allowOnly: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
  /** Tools that no narrowing takes away, except a denial. */
  readonly mandatory: Listed;
  /** Tools that somebody asked for expressly: what is hidden by default is shown when it is among them. */
  readonly optedIn: Listed;
  readonly allowsWrites: boolean;
};

/** Reads a context and what policy providers returned; what is not a fragment says nothing. */
export function readPolicy(context: UnknownMap, provided: readonly unknown[]): VisibilityPolicy {
  const fragments = [agentConfigOf(context).tool_policy, context.tool_policy, ...provided].filter(isMap);
  const speakers = [context, ...fragments];
  const allowing = fragments.filter(({ mode }) => mode === "allow");
  const allowOnly = united(speakers, "allow_only");
  const mandatory = {
    names: united(speakers, "mandatory_tools"),
    categories: united(speakers, "mandatory_categories"),
  };
  return {
    mode: scalarText(context.mode) ?? "chat",
    steps: fragments.flatMap(stepOf),
    categories: united([context], "categories"),
    allowOnly,
    denied: united(speakers, "deny"),
    mandatory,
    optedIn: {
      names: allOf(allowOnly, mandatory.names, united(speakers, "runtime_tools"), united(allowing, "tools")),
      categories: allOf(mandatory.categories, united(speakers, "runtime_categories"), united(allowing, "categories")),
    },
    allowsWrites: speakers.some(({ allow_write_tools }) => allow_write_tools === true),
  };
}

const actsForNobody: ReadonlySet<string | undefined> = new Set(["system", "runtime", "agent_token"]);

/** True unless the context names a user on whose behalf the run acts. */
export function isAutonomous(context: UnknownMap): boolean {
  const { principal } = context;
  const speaks = isMap(principal) && (principal.auth_source != null || principal.acting_user_id != null);
  const { auth_source, acting_user_id } = speaks ? principal : context;
  return !wholeNumber(acting_user_id, 0) || actsForNobody.has(trimmed(auth_source));
}

function stepOf({ mode: given, tools, categories }: UnknownMap): VisibilityPolicy["steps"] {
  const mode = given ?? "deny";
  if (mode !== "allow" && mode !== "deny") return [];
  const listed = { names: new Set(stringList(tools)), categories: new Set(stringList(categories)) };
  const listsNothing = listed.names.size === 0 && listed.categories.size === 0;
  // To allow nothing hides everything; to deny nothing is to say nothing.
  return mode === "deny" && listsNothing ? [] : [{ mode, ...listed }];
}

const none: ReadonlySet<string> = new Set();

function united(speakers: readonly UnknownMap[], field: string): ReadonlySet<string> {
  return allOf(...speakers.filter((each) => each[field] != null).map((each) => new Set(stringList(each[field]))));
}

function allOf(...sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  const filled = sets.filter(({ size }) => size > 0);
  const [first = none, ...others] = filled;
  return others.length === 0 ? first : new Set(filled.flatMap((set) => [...set]));
}
