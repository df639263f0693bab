// Who may use the operations on workflows.
import type { Hooks } from "../../contracts/hooks.ts";
import { snapshotMap } from "../../contracts/json.ts";

/** What somebody wants: to see all of a run is `unredacted`, beside `read`. */
export type WorkflowWish = "run" | "validate" | "describe" | "read" | "unredacted" | "cancel";

/** What is known of whoever asks. Whatever throws has decided nothing, and is thrown on. */
export type WorkflowAccessHost = {
  /** True for those who administer the host. */
  readonly isAdministrator?: boolean | undefined;
  /** True for those who may read there at all. */
  readonly mayRead?: boolean | undefined;
  readonly isSignedIn?: boolean | undefined;
  readonly hooks?: Hooks | undefined;
};

const seams = {
  run: "runWorkflowPermission",
  validate: "validateWorkflowPermission",
  read: "workflowRunReadPermission",
  unredacted: "workflowRunUnredactedReadPermission",
  cancel: "workflowRunCancelPermission",
} as const;

/** True when whoever asks may: administrators everything, readers see runs, and everybody who is signed in validates. */
export async function mayUseWorkflows(
  wish: WorkflowWish,
  input: unknown,
  { isAdministrator = false, mayRead = false, isSignedIn = false, hooks }: WorkflowAccessHost,
): Promise<boolean> {
  const usually = wish === "read" ? mayRead : wish === "validate" ? isSignedIn : isAdministrator;
  // The contract names no seam for describing.
  if (wish === "describe") return usually;
  return (await hooks?.apply(seams[wish], usually, snapshotMap(input))) ?? usually;
}
