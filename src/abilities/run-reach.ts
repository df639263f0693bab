// Which runs of workflows are within a caller's reach, by the rules of threads: their own, and everybody's for who manages
// workflows. What is not within reach is not there.
import type { SubjectQuery } from "../backend/subject-store.ts";
import { type HoldfastError, holdfastError } from "../contracts/error.ts";
import type { Principal } from "../contracts/trust/principal.ts";
import type { Runtime } from "../threads/runtime.ts";
import type { Subject } from "../threads/subject.ts";
import { actsWithMore, type Belonging, isHere, isOwn, scopeFor } from "./belongs-to.ts";
import type { Allows } from "./operation.ts";

/** What is wanted of a run. `read`: to look, or to stop it. `act`: to have it do something. */
export type RunNeed = "read" | "act";

export interface RunReach {
  /** Throws `workflow_run_not_found` for what is not within reach, and to `act` also `workflow_run_acts_with_more`. */
  run(id: string, principal: Principal, need?: RunNeed): Promise<void>;
  /** True when the run acts for who calls. */
  ownsRun(id: string, principal: Principal): Promise<boolean>;
  /** True when the caller may see the run as it is: what is the caller's own takes the capability to start runs. */
  seesWholeRun(id: string, principal: Principal): Promise<boolean>;
  /** True for a caller who reaches the runs of everybody, where he is. */
  managesRuns(principal: Principal): Promise<boolean>;
  /** What narrows lists of runs. Throws `thread_owner_missing`. */
  runScope(principal: Principal): Promise<SubjectQuery>;
  /**
   * Whether what a run waits for is within reach, to be seen or to be answered: who manages threads decides about the requests
   * of runs too. Throws `workflow_run_acts_with_more`.
   */
  asksAsRun(id: string, principal: Principal, need: "read" | "answer"): Promise<boolean>;
}

export function createRunReach({ authority, threads }: Runtime, allows: Allows): RunReach {
  const managesRuns = (principal: Principal) => allows(principal, "workflows.manage");

  async function found(id: string, principal: Principal): Promise<Belonging | undefined> {
    const subject = await threads.subjectOfRun(id);
    if (!subject) return undefined;
    const belonging = { subject, owner: subject.owner };
    return isHere(belonging, principal) ? belonging : undefined;
  }

  async function refuseMore(id: string, subject: Subject, principal: Principal, isOwner: boolean): Promise<void> {
    if (await actsWithMore(authority, subject, principal, isOwner)) throw actsWithMoreThanTheirs(id);
  }

  async function ownsRun(id: string, principal: Principal): Promise<boolean> {
    const belonging = await found(id, principal);
    return belonging !== undefined && isOwn(belonging, principal);
  }

  return {
    managesRuns,
    ownsRun,
    async run(id, principal, need = "act") {
      const belonging = await found(id, principal);
      const isOwner = belonging !== undefined && isOwn(belonging, principal);
      if (!belonging || !(isOwner || (await managesRuns(principal)))) throw runNotFound(id);
      if (need === "act") await refuseMore(id, belonging.subject, principal, isOwner);
    },
    async seesWholeRun(id, principal) {
      if (await managesRuns(principal)) return true;
      return (await allows(principal, "workflows.run")) && (await ownsRun(id, principal));
    },
    runScope: async (principal) => scopeFor(principal, await managesRuns(principal)),
    async asksAsRun(id, principal, need) {
      const belonging = await found(id, principal);
      if (!belonging) return false;
      if (!isOwn(belonging, principal)) {
        return (await managesRuns(principal)) || (await allows(principal, "threads.manage"));
      }
      // To answer for others takes no more than to be let to; an owner who comes with less must not have the run do more.
      if (need === "answer") await refuseMore(id, belonging.subject, principal, true);
      return true;
    },
  };
}

function runNotFound(id: string): HoldfastError {
  return holdfastError("workflow_run_not_found", `There is no workflow run "${id}".`);
}

function actsWithMoreThanTheirs(id: string): HoldfastError {
  return holdfastError("workflow_run_acts_with_more", `The workflow run "${id}" may do what the caller may not.`);
}
