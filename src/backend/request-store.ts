// What threads wait for: somebody outside has to run a tool, approve a call or answer a question, or a child has to finish.

export type RequestStatus = "pending" | "answered" | "expired" | "cancelled" | "settled";

/** `child`: a child thread answers it. `variables`: no call waits for it; a child could not be created without them. */
export type RequestKind = "client_tool" | "approval" | "child" | "variables";

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
};

export type StoredRequest = Omit<NewRequest, "sealed" | "expires_after"> & {
  readonly thread_id: string;
  readonly run: number;
  readonly status: RequestStatus;
  readonly sealed: string | null;
  /** JSON of what was submitted. */
  readonly answer: string | null;
  readonly payload_hash: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly ended_at: number | null;
};

export type RequestQuery = {
  readonly thread_id?: string;
  readonly status?: RequestStatus;
  /** Those after this one, in the order of their creation. */
  readonly after?: string;
  readonly limit?: number;
};

/** `refused`: it is not pending any more, or its time is up; reading it tells which. */
export type SubmitOutcome = "submitted" | "refused";

export interface RequestStore {
  get(id: string): Promise<StoredRequest | undefined>;
  list(query: RequestQuery): Promise<readonly StoredRequest[]>;
  /** Takes the answer and wakes the thread: of any number of answers the first one counts. */
  submit(id: string, answer: { readonly body: string; readonly payload_hash: string }): Promise<SubmitOutcome>;
  /** Microseconds on the database's clock. */
  now(): Promise<number>;
}
