// Attempts to answer a request, right and wrong ones, each with words of its own so that it is known again.
import type { Asked, Attempt, Expectation } from "./expectation.ts";
import { mayDecide, nobody, type Person, people } from "./people.ts";
import { MOST_CENTS, threads } from "./shop.ts";

export type Edit = "none" | "nothing" | "cents" | "everything" | "too much" | "wrong type" | "actor" | "no map";
export type Brought = "result" | "error" | "wrong result" | "nothing" | "decision";

export type Decision = {
  /** Of the people, by number; `people.length` for whoever may. */
  readonly person: number;
  readonly decision: "accepted" | "rejected";
  readonly edit: Edit;
  readonly remember: boolean;
  readonly via: "requests" | "approvals" | "another thread";
};

/** By somebody else where one is named. */
export type Replay = { readonly person: number | null; readonly isChanged: boolean };

export function deciding(
  model: Expectation,
  asked: Asked,
  { decision, edit, remember, via, person: number }: Decision,
): Attempt {
  const person = somebody(number, asked.rule);
  const parameters = editOf(model, asked, edit);
  const answer = {
    ...{ decision, reason: `because ${model.next()}`, by: person.name },
    ...(parameters !== undefined && { parameters }),
    ...(remember && { remember }),
  };
  const isWhole = edit === "none" || (edit !== "no map" && decision === "accepted" && !remember);
  const isBad = edit === "too much" || edit === "wrong type" || edit === "actor";
  return {
    person,
    answer,
    ...(asked.kind !== "approval" || !isWhole ? { flaw: "form" as const } : isBad && { flaw: "edit" as const }),
    ...(via === "another thread" && { isForeign: true }),
  };
}

/** One of the people; whoever may decide under the rule for any other number. */
function somebody(number: number, rule: number): Person {
  const right = people.find((person) => threads.every(({ user }) => mayDecide(rule, person, user)));
  return people[number] ?? right ?? nobody;
}

function editOf(model: Expectation, { tool }: Asked, edit: Edit): unknown {
  switch (edit) {
    case "none":
      return undefined;
    case "nothing":
      return {};
    case "cents":
      return { cents: model.next() };
    case "everything":
      return { order: 1_000_000 + model.next(), cents: model.next(), card: `4222-other-card-${model.next()}` };
    case "too much":
      return { cents: MOST_CENTS + 1 };
    case "actor":
      // Only the refund is bound to whoever it acts for.
      return tool === "shop/refund" ? { actor: 12 } : { cents: null };
    case "wrong type":
      return { cents: "many" };
    case "no map":
      return "everything";
  }
}

export function bringing(model: Expectation, asked: Asked, brought: Brought): Attempt {
  const person = nobody;
  const number = model.next();
  const answers = {
    result: { result: { choice: `choice ${number}` } },
    error: { error: `error ${number}` },
    "wrong result": asked.tool === "client/ask" ? { result: { choice: number } } : { results: number },
    nothing: {},
    decision: { decision: "accepted", reason: `because ${number}`, by: person.name },
  } as const;
  const answer = answers[brought];
  const isResult = asked.kind === "client_tool" && (brought === "result" || brought === "error");
  if (isResult) return { person, answer };
  const isWrong = asked.tool === "client/ask" && asked.kind === "client_tool" && brought === "wrong result";
  // A decision about an approval is one, whoever makes it and however.
  if (asked.kind === "approval" && brought === "decision") return { person, answer };
  return { person, answer, flaw: isWrong ? "result" : "form" };
}

/** The same attempt, by somebody else perhaps, and with other words perhaps. */
export function again(attempt: Attempt, { person, isChanged }: Replay): Attempt {
  const { answer } = attempt;
  const other = (person === null ? undefined : people[person]) ?? attempt.person;
  const same = { ...attempt, person: other };
  if (!isChanged) return same;
  if (typeof answer.reason === "string") return { ...same, answer: { ...answer, reason: `${answer.reason}, again` } };
  return attempt.flaw ? same : { ...same, answer: { error: "Another." } };
}
