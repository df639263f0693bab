// What threads wait for: somebody outside has to run a tool, approve a call or answer a question, or a child has to finish.
import type { ListPlace } from "../contracts/list-place.ts";
import type { RememberedApproval } from "./approval-memory-store.ts";
import type { ThreadKind } from "./new-thread.ts";
import type { SubjectQuery } from "./subject-store.ts";

export type RequestStatus = "pending" | "answered" | "expired" | "cancelled" | "settled";

/** `child`: a child thread answers it. `variables`: no call waits for it; a child could not be created without them. */
export type RequestKind = "client_tool" | "approval" | "child" | "variables";

/** What an approval is asked under: part of what it is bound to. */
export type RequestTerms = {
  /** The agent of the thread. */
  readonly agent: string;
  /** Who set off the call, in words such as `user:12`; null when nobody is known. */
  readonly creator: string | null;
  readonly workspace_type: string | null;
  readonly workspace_id: string | null;
  /** Names the rules under which it was asked; they may have changed when somebody decides. */
  readonly policy_version: string;
  /** JSON of the rule about who may decide; null when there is none. */
  readonly approvers: string | null;
};

export type NewRequest = {
  readonly id: string;
  readonly call: number;
  readonly kind: RequestKind;
  readonly tool_name: string;
  /** JSON without secrets, for everybody who may see the request. */
  readonly shown: string;
  /** The whole, sealed; erased when the request has ended. */
  readonly sealed: string;
  /** Ties the request to the exact arguments of the call. */
  readonly binding: string;
  /** Microseconds from now until it expires. */
  readonly expires_after: number | null;
  /** Absent for what is no approval. */
  readonly terms?: RequestTerms;
};

export type StoredRequest = Omit<NewRequest, "sealed" | "expires_after" | "terms"> & {
  readonly terms: RequestTerms;
  readonly thread_id: string;
  readonly run: number;
  readonly status: RequestStatus;
  readonly sealed: string | null;
  /** JSON of what was submitted. */
  readonly answer: string | null;
  readonly payload_hash: string | null;
  /** Made with the installation's key when the answer was submitted. */
  readonly answer_mac: string | null;
  /** Who decided, in words such as `user:12`. */
  readonly resolver: string | null;
  /** JSON of the safe part of the principal who decided. */
  readonly decided_by: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly ended_at: number | null;
};

export type RequestQuery = SubjectQuery & {
  readonly thread_id?: string;
  readonly status?: RequestStatus;
  readonly kind?: RequestKind;
  /** Only those of threads, or of runs of workflows. */
  readonly of?: ThreadKind;
  /** Only approvals that a rule about who may decide stands over. */
  readonly ruled?: boolean;
  /** Only approvals whose rule may call this user to decide: it names him, or names nobody and asks for something else. */
  readonly calls?: number;
  /** Those after this one, in the order of their creation; those of one time by id. */
  readonly after?: string;
  /** The same for one that need not be there any more. */
  readonly behind?: ListPlace;
  readonly limit?: number;
};

export type NewAnswer = {
  /** JSON. */
  readonly body: string;
  readonly payload_hash: string;
  readonly mac: string;
  readonly resolver?: string;
  readonly decided_by?: string;
  /** What was proposed, changed by who decided, and what it is bound to from now on. */
  readonly edited?: { readonly sealed: string; readonly binding: string };
  /** Remembered together with the answer, or not at all. */
  readonly remembered?: RememberedApproval;
};

/** `refused`: it is not pending any more, or its time is up; reading it tells which. */
export type SubmitOutcome = "submitted" | "refused";

export interface RequestStore {
  get(id: string): Promise<StoredRequest | undefined>;
  list(query: RequestQuery): Promise<readonly StoredRequest[]>;
  /** Takes the answer and wakes the thread: of any number of answers the first one counts. */
  submit(id: string, answer: NewAnswer): Promise<SubmitOutcome>;
  /** Microseconds on the database's clock. */
  now(): Promise<number>;
}
