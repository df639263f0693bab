// Two abilities about abilities: one finds what there is, the other calls it by name. With them a model can use many
// abilities without being offered each as a tool of its own.
import { ABILITY_CALL, type Abilities, type Ability, type AbilityOptions } from "../contracts/abilities/ability.ts";
import { redactedParameters } from "../contracts/abilities/dispatcher.ts";
import { nonEmptyString, stringList, trim, trimmed, wholeNumber } from "../contracts/coerce.ts";
import { asMap, emptyMap, isMap, type JsonMap, type UnknownMap } from "../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../contracts/operation-error.ts";

type FoundAbility = {
  readonly name: string;
  readonly summary: string;
  readonly required_fields: readonly string[];
};

type AbilitySearch = {
  readonly query: string;
  readonly count: number;
  readonly abilities: readonly FoundAbility[];
};

type AbilityCall = {
  readonly name: string;
  readonly parameters: JsonMap;
  readonly parameters_redacted: true;
  readonly result: unknown;
};

const SEARCH = "agents/ability-search";

const USUAL_LIMIT = 20;
const MOST_FOUND = 100;

/**
 * The abilities that match `query`, `category` and `limit`, in the registry's order. Every word of the query has to
 * occur; `select:a,b` asks for these names instead, unless it names none.
 */
export function search(input: unknown, abilities: Abilities): AbilitySearch {
  const given = asMap(input) ?? emptyMap;
  const query = trimmed(given.query) ?? "";
  const category = trimmed(given.category);
  const limit = Math.min(wholeNumber(given.limit, 1) ?? USUAL_LIMIT, MOST_FOUND);
  const matches = matcherOf(query);
  const found = abilities
    .list()
    .filter((ability) => (category === undefined || ability.category === category) && matches(ability))
    .slice(0, limit)
    .map(entryOf);
  return { query, count: found.length, abilities: found };
}

/**
 * Calls the ability `name` with `parameters` through `dispatch`, so that whatever stands before it stands here too. Its
 * errors are returned as they are, and so is a request for approval: wrapped in an answer, nobody would recognise it.
 */
export async function call(
  input: unknown,
  abilities: Abilities,
  dispatch: AbilityOptions["dispatch"],
): Promise<AbilityCall | OperationError | ApprovalRequest> {
  const given = asMap(input) ?? emptyMap;
  const name = trimmed(given.name);
  if (name === undefined) return operationError("agents_ability_call_missing_name", "name must be a non-empty string");
  if (name === ABILITY_CALL) {
    return operationError("agents_ability_call_recursion", `"${ABILITY_CALL}" cannot be called by itself.`);
  }
  if (!abilities.get(name)) return operationError("agents_ability_call_not_found", `There is no ability "${name}".`);
  const result = await dispatch(name, given.parameters);
  if (isOperationError(result) || isApprovalRequest(result)) return result;
  const parameters = redactedParameters(name, given.parameters, abilities);
  return { name, parameters, parameters_redacted: true, result };
}

/** Both as abilities that can be registered. They know the abilities they are given, and call on behalf of their caller. */
export function metaAbilities(abilities: Abilities): readonly [search: Ability, call: Ability] {
  return [
    { ...searchAbility, execute: (input) => search(input, abilities) },
    { ...callAbility, execute: (input, _context, { dispatch }) => call(input, abilities, dispatch) },
  ];
}

const searchAbility = {
  name: SEARCH,
  label: "Search abilities",
  description: "Finds abilities by words in their name, label, description or category, or by exact names.",
  category: "agents",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "Words that all must occur, or select:name,name for exact names." },
      category: { type: "string" },
      limit: { type: "integer", minimum: 1, maximum: MOST_FOUND, default: USUAL_LIMIT },
    },
  },
  annotations: { readonly: true, destructive: false, idempotent: true },
};

const callAbility = {
  name: ABILITY_CALL,
  label: "Call an ability",
  description: "Calls an ability by its name with the parameters it needs.",
  category: "agents",
  inputSchema: {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string" },
      // Which of them are sensitive only the called ability knows; its own events and answer show the others.
      parameters: { type: "object", writeOnly: true },
    },
  },
  // It does whatever the called ability does.
  annotations: { readonly: false, destructive: true, idempotent: false },
};

type ApprovalRequest = UnknownMap & { readonly type: "approval_required" };

function isApprovalRequest(result: unknown): result is ApprovalRequest {
  return isMap(result) && result.type === "approval_required";
}

function matcherOf(query: string): (ability: Ability) => boolean {
  const tokens = query.split(SPACES);
  const isSelection = (token: string) => token.startsWith(SELECT);
  const selections = tokens.filter(isSelection).map((token) => token.slice(SELECT.length));
  const selected = new Set(selections.flatMap((names) => stringList(names.split(","))));
  if (selected.size > 0) return ({ name }) => selected.has(name);
  const others = tokens.filter((token) => !isSelection(token));
  const words = [...new Set(others.map(wordOf))].filter((word) => word !== "");
  return (ability) => {
    const text = searchedText(ability);
    return words.every((word) => text.includes(word));
  };
}

const SELECT = "select:";
const SPACES = /[ \t\n\r\v\f]+/;

/** A plus asks for what is asked of every word anyway. */
function wordOf(token: string): string {
  return (token.startsWith("+") ? token.slice(1) : token).toLowerCase();
}

// Words hold no space, so none can be found across two fields.
function searchedText({ name, label, description, category }: Ability): string {
  return [name, label, description, category].filter(nonEmptyString).join("\n").toLowerCase();
}

function entryOf({ name, label, description, inputSchema }: Ability): FoundAbility {
  const summary = collapsed(description) || collapsed(label);
  const required = isMap(inputSchema) ? inputSchema.required : undefined;
  return { name, summary, required_fields: Array.isArray(required) ? stringList(required) : [] };
}

function collapsed(text: unknown): string {
  return typeof text === "string" ? trim(text.split(SPACES).join(" ")) : "";
}
