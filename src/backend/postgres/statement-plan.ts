// What is known about a statement for as long as the driver lives: its text and the types of its parameters.
import type { Scalar, Statement } from "../sql-driver.ts";
import { statementText } from "./statement-text.ts";

export type StatementPlan = {
  readonly text: string;
  readonly keepsRows: boolean;
  /** Replaced, never changed: who has prepared the statement with another list prepares it anew. */
  types: readonly ParameterType[];
  readonly placeholders: number;
};

/**
 * Whole numbers are declared as bigint, because the server would take the parameter of `$1 + 1` for a 32-bit integer.
 * All else is left to the server, which takes the type from what a parameter is compared with or stored in.
 */
type ParameterType = "not_seen" | "bigint" | "any";

/** Statements are written as constants, so they are few; a program that builds endless ones must not fill the memory. */
const MOST_PLANS = 1_000;

/** Finds the plan of a statement again, or makes it. */
export function createPlans(): (statement: Statement) => StatementPlan {
  const byText = new Map<string, Map<number | undefined, StatementPlan>>();
  return ({ sql, params, expect }) => {
    let byExpectation = byText.get(sql);
    if (!byExpectation) {
      if (byText.size >= MOST_PLANS) byText.clear();
      byExpectation = new Map();
      byText.set(sql, byExpectation);
    }
    let plan = byExpectation.get(expect);
    if (!plan) {
      plan = createPlan(sql, expect);
      byExpectation.set(expect, plan);
    }
    learnTypes(plan, params);
    return plan;
  };
}

function createPlan(sql: string, expect: number | undefined): StatementPlan {
  const numbers = Array.from(sql.matchAll(/\$(\d+)/g), ([, number]) => Number(number));
  const placeholders = Math.max(0, ...numbers);
  return { ...statementText(sql, expect), placeholders, types: Array(placeholders).fill("not_seen") };
}

function learnTypes(plan: StatementPlan, params: readonly Scalar[]): void {
  for (let index = 0; index < plan.placeholders; index++) {
    const value = params[index];
    if (value === null || value === undefined) continue;
    const known = plan.types[index];
    const type = Number.isSafeInteger(value) ? "bigint" : "any";
    if (known === type || known === "any") continue;
    plan.types = plan.types.with(index, known === "not_seen" ? type : "any");
  }
}
