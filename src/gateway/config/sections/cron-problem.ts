// Whether a cron expression is one, and ever comes.
import { Cron } from "croner";

const LONGEST = 200;
const FIELDS = "five fields: minute, hour, day, month and weekday";

/** What is wrong with an expression of five fields or a nickname such as `@daily`; undefined when it can be used. */
export function cronProblem(expression: string, timezone: string | null): string | undefined {
  const fields = expression.split(/\s+/).length;
  const isNickname = fields === 1 && expression.startsWith("@");
  if (expression.length > LONGEST || (fields !== 5 && !isNickname)) return `takes a cron expression of ${FIELDS}.`;
  try {
    const cron = new Cron(expression, { mode: "5-part", paused: true, ...(timezone !== null && { timezone }) });
    return cron.nextRun(new Date(0)) === null ? "names a date that never comes." : undefined;
  } catch {
    return `is not a cron expression: a value is out of its range, or not understood, in its ${FIELDS}.`;
  }
}
