// A step that calls a tool to which a person has to agree: the request is opened in the commit in which the step begins, and the
// tool runs once it was accepted.
import { sha256, sortedText } from "../../../contracts/canonical-json.ts";
import { trimmed } from "../../../contracts/coerce.ts";
import { type JsonMap, snapshotMap } from "../../../contracts/json.ts";
import { expose } from "../../../contracts/tools/exposure.ts";
import { asksItself } from "../../../threads/requests/terms.ts";
import type { Tool } from "../../../threads/tool.ts";
import { boundTo, newRequest } from "../asked-request.ts";
import type { RunHost } from "../run-host.ts";
import type { Beginning, Begun } from "./beginning.ts";
import { LONGEST_APPROVAL_MS, placeIn, termsOf } from "./wait-step.ts";

/** The tool that a step calls; operations of the same name come first. */
export async function toolOfStep(
  host: RunHost,
  principal: Beginning["run"]["principal"],
  { type, ability }: JsonMap,
): Promise<Tool | undefined> {
  const name = type === "ability" ? trimmed(ability) : undefined;
  const tool = name === undefined ? undefined : host.tools.get(name);
  return tool && !(await host.operations(principal).has(tool.name)) ? tool : undefined;
}

export async function needsApproval({ host, run, order }: Beginning): Promise<boolean> {
  const tool = await toolOfStep(host, run.principal, order.step);
  return tool !== undefined && asksItself(tool);
}

export async function beginApproval({ host, run, batch, order, call }: Beginning): Promise<Begun> {
  const tool = await toolOfStep(host, run.principal, order.step);
  if (!tool) return {};
  const id = crypto.randomUUID();
  const parameters = snapshotMap(order.step.args);
  const expiresAfter = tool.waitMs ?? LONGEST_APPROVAL_MS;
  batch.opened.push(
    newRequest(host.threads, {
      ...{ id, call, kind: "approval", name: tool.name, expiresAfter },
      parameters: boundTo(run, order, parameters),
      shown: {
        ...placeIn(run, order.step),
        tool_name: tool.name,
        parameters: expose(parameters, tool.declaration).parameters,
      },
      terms: termsOf(run, tool.approvers, policyOf(tool)),
    }),
  );
  return { open: { by: "approval", waits_for: "approval", request_id: id, until: host.threads.now() + expiresAfter } };
}

/** Names what decides what a yes means: what the tool takes and how it may run, and who may decide. */
export function policyOf({ declaration, approvers }: Tool): string {
  const { description: _, ...rules } = declaration;
  return `tool-${sha256(sortedText({ declaration: rules, approvers: approvers ?? null })).slice(0, 16)}`;
}
