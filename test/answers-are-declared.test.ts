// Promise: what an operation answers with is what its schema says, and nothing beside it: what is not declared is not told.
import { afterAll, beforeAll, expect, it } from "vitest";
import { capabilities } from "../src/abilities/capabilities.ts";
import type { Operation } from "../src/abilities/operation.ts";
import type { UnknownMap } from "../src/contracts/json.ts";
import { projectedOperations } from "../src/server/routes.ts";
import { askOperation, fieldsOf } from "./doors/ask-operation.ts";
import { inputFor } from "./doors/fields.ts";
import {
  type Belongings,
  belongingsOf,
  heldByTenants,
  type Tenants,
  threadsOf,
  twoTenants,
} from "./doors/two-tenants.ts";

let tenants: Tenants;
let hers: Belongings;
beforeAll(async () => {
  tenants = await twoTenants();
  hers = await belongingsOf(tenants.served, tenants.alice);
});
afterAll(() => tenants.served.close());

/** What only a crash brings about, or a host: it is refused here, and answered with in tests of its own. */
const refused: Readonly<Record<string, string>> = {
  "agents/dispatch-message": "agents_dispatch_message_no_handler",
  "holdfast/settle-call": "call_not_unknown",
  "holdfast/retry-thread": "thread_not_stuck",
  "holdfast/retry-workflow-run": "workflow_run_not_failed",
  "agents/reconcile-workflow-branch": "agents_reconcile_workflow_branch_unknown_handle",
};

type Fresh = (threads: ReturnType<typeof threadsOf>) => Promise<UnknownMap>;

const client: Fresh = async ({ waiting }) => ({ request_id: (await waiting("look")).request_id });
const approval: Fresh = async ({ waiting }) => ({ request_id: (await waiting("pay")).request_id });
const thread: Fresh = async ({ open, say }) => {
  const thread_id = await open();
  await say(thread_id, "Hello.");
  return { thread_id };
};
const guideline: Fresh = async ({ ask }) => {
  const kept = { workspace_id: "here", scope: "private_user_workspace_memory", title: "One", content: "Two" };
  const { id, version } = await ask("POST", "/guidelines", kept);
  return { id, version };
};

const errand: Fresh = async ({ errand: started }) => ({ run_id: await started() });

/** What is used up by being called for. */
const fresh: Readonly<Record<string, Fresh>> = {
  "holdfast/edit-message": thread,
  "holdfast/delete-message": thread,
  "holdfast/terminate-thread": thread,
  "holdfast/delete-thread": thread,
  "holdfast/cancel-workflow-run": errand,
  "holdfast/delete-workflow-run": errand,
  "agents/cancel-workflow-run": errand,
  "holdfast/run-effect": ({ reminder }) => reminder(),
  "holdfast/cancel-effect": ({ reminder }) => reminder(),
  "holdfast/update-guideline": guideline,
  "holdfast/promote-guideline": guideline,
  "holdfast/delete-guideline": guideline,
  "holdfast/submit-request": client,
  "agents/submit-runtime-tool-result": client,
  "agents/timeout-runtime-tool-request": client,
  "agents/cancel-runtime-tool-request": client,
  "holdfast/decide-approval": approval,
  "agents/resolve-pending-action": async (threads) => ({ action_id: (await approval(threads)).request_id }),
  "holdfast/submit-variables": async ({ variables }) => {
    const { thread_id: parent_thread_id, request_id } = await variables();
    return { parent_thread_id, request_id };
  },
  "holdfast/grant-access": async () => ({ user_id: 7 }),
  "holdfast/revoke-access": async () => ({ user_id: 7 }),
  "holdfast/send-bridge-message": async () => ({ session_id: hers.bridge.session_id }),
};

/** A token decides about nothing that was done with it. */
function tokenFor({ capability }: Operation): string {
  const isHers = capabilities[capability].has === "own" || heldByTenants.includes(capability);
  return isHers && capability !== "approvals.decide" ? tenants.alice.token : tenants.manager;
}

const order = ["read", "write", "destroy"];

it("answers with what is declared, whatever is called", async () => {
  const { served, alice } = tenants;
  const problems: Record<string, unknown> = {};
  const operations = projectedOperations(served.holdfast).toSorted(
    (one, other) => order.indexOf(one.effect) - order.indexOf(other.effect),
  );
  for (const operation of operations) {
    const { name, output } = operation;
    const { required } = fieldsOf(operation);
    const own = inputFor(operation, (field) => (required.includes(field) ? hers : undefined));
    const input = { ...own, ...(await fresh[name]?.(threadsOf(served, alice.token))) };
    const { status, code, text } = await askOperation(served, tokenFor(operation), operation, input);
    if (status >= 300) {
      if (code !== refused[name]) problems[name] = text;
      continue;
    }
    const body: unknown = JSON.parse(text);
    const read = output.safeParse(body);
    if (!read.success) problems[name] = read.error.issues;
    else if (!isSame(read.data, body)) problems[name] = { declared: read.data, told: body };
  }
  expect(problems).toEqual({});
});

/** What a schema does not know it leaves out. */
function isSame(declared: unknown, told: unknown): boolean {
  try {
    expect(declared).toEqual(told);
    return true;
  } catch {
    return false;
  }
}
