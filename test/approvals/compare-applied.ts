// What was applied, and what was asked for before: told by the tools and by the database, held against the model.
import { expect } from "vitest";
import type { UnknownMap } from "../../src/contracts/json.ts";
import { type Asked, type Expectation, parametersOf } from "./expectation.ts";
import type { RequestRow, Runtimes } from "./runtimes.ts";
import { type ToolName, threads } from "./shop.ts";
import { isDirect, isStopped, type Step } from "./step.ts";

/** A request that was not there before: it has to be about something that somebody wished for, in that thread, once. */
export async function discover(model: Expectation, real: Runtimes, row: RequestRow, step: Step): Promise<void> {
  const { parameters } = JSON.parse(row.shown) as { parameters: UnknownMap };
  expect(row.shown).not.toContain("secret-card");
  const call = `${row.thread_id} ${row.run} ${row.call}`;
  const approval = model.asked.find((asked) => asked.call === call);
  const wish = approval?.wish ?? real.shop.wishes.get(Number(parameters.order));
  expect(wish, `a wish for ${row.shown}`).toBeDefined();
  if (!wish) return;
  expect([real.threadIds[wish.thread], wish.tool]).toEqual([row.thread_id, row.tool_name]);
  const isAskedBefore = model.asked.some((asked) => asked.wish === wish && asked.kind === row.kind);
  expect(isAskedBefore, `order ${wish.order} is asked about twice`).toBe(false);
  const asked: Asked = {
    ...{ id: row.id, kind: row.kind as Asked["kind"], tool: row.tool_name as ToolName, wish, call },
    ...{ rule: real.rule, status: "pending", applies: false },
  };
  model.asked.push(asked);
  model.note(`asked for ${row.kind}`);
  if (row.status === "cancelled") {
    asked.status = "cancelled";
    expect([isStopped(step, asked), row.answer]).toEqual([true, null]);
  } else if (row.status === "expired") {
    asked.status = "expired";
    expect([step.told.some(({ prepared }) => prepared.passes), row.answer]).toEqual([true, null]);
  } else expect(row.status).toBe("pending");
  if (row.kind !== "client_tool" || row.tool_name !== "client/pay") return;
  // The client is about to apply it: that takes a yes, and it gets what was agreed to.
  expect(approval ? approval.applies : isDirect(model, wish, step), `order ${wish.order} was approved`).toBe(true);
  if (asked.status !== "pending") return;
  const opened = await real.runtime(0).requests.open(row.id);
  expect(opened.parameters).toEqual(approval ? parametersOf(approval) : wish.parameters);
}

/** Every application has one valid decision for exactly what it was applied with, and every such decision one application. */
export async function compareApplied(model: Expectation, real: Runtimes, step: Step): Promise<void> {
  const { applied } = real.shop;
  const keys = applied.map(({ key }) => key);
  expect(new Set(keys).size, "no call is applied twice").toBe(keys.length);
  const calls = new Map((await real.calls()).map((row) => [row.key, `${row.thread_id} ${row.run} ${row.number}`]));
  for (const { key, threadId, input } of applied.slice(model.checked)) {
    const call = calls.get(key);
    const asked = model.asked.find((each) => each.call === call);
    const wish = asked?.wish ?? real.shop.wishes.get(Number(input.order));
    if (!wish) throw new Error(`Nobody wished for ${JSON.stringify(input)}.`);
    expect(asked ? asked.applies : isDirect(model, wish, step), `order ${wish.order} was approved`).toBe(true);
    expect(input).toEqual({ ...(asked ? parametersOf(asked) : wish.parameters), actor: threads[wish.thread]?.user });
    expect(threadId).toBe(real.threadIds[wish.thread]);
    model.note(asked ? "applied" : "applied without asking");
  }
  model.checked = applied.length;
  const isApplied = ({ call, tool }: Asked) =>
    tool === "shop/refund"
      ? keys.some((key) => calls.get(key) === call)
      : model.asked.some((each) => each.call === call && each.kind === "client_tool");
  for (const asked of model.asked.filter(({ kind }) => kind === "approval")) {
    if (asked.applies && !isApplied(asked) && !step.isExact && isStopped(step, asked)) asked.applies = false;
    expect(isApplied(asked), `order ${asked.wish.order} is applied`).toBe(asked.applies);
  }
}
