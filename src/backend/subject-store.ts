// Whom threads act for, as it is stored: the principal, where they act, whose conversation it is, and what was agreed to.

export type StoredSubject = {
  /** JSON of an execution principal. */
  readonly principal: string;
  readonly workspace_type: string | null;
  readonly workspace_id: string | null;
  readonly owner_type: string | null;
  readonly owner_key: string | null;
  /** Where the thread is used: `chat` and the like, or a mode in which nobody is present. */
  readonly context: string;
  /** JSON: operations by name, each agreed to or not. */
  readonly consent: string;
};

/** Which threads are listed, by whom they act for. */
export type SubjectQuery = {
  /** Only those whose conversations are this owner's; of visitors, those of the audience that is named. */
  readonly owner?: { readonly type: string; readonly key: string; readonly audience?: string };
  /** Only those in the workspace of this id: their own, or where they have none that of their principal. */
  readonly workspace?: string;
};

export type NewShare = {
  readonly id: string;
  readonly session_id: string;
  readonly shared_with: string;
  /** JSON of a safe principal. */
  readonly shared_by: string;
  /** JSON of the decision that allowed it. */
  readonly consent: string;
};

export interface SubjectStore {
  get(threadId: string): Promise<StoredSubject | undefined>;
  /**
   * Replaces the consent if it is still the one that was read; a thread without a subject gets this one. The operations in
   * `takenBack` are taken back of all too that live below the thread and act for the same principal.
   */
  changeConsent(
    threadId: string,
    subject: StoredSubject,
    consent: string,
    takenBack?: readonly string[],
  ): Promise<"changed" | "overtaken" | "not_found">;
  /** Notes that a transcript was shared, before it is handed over. */
  share(share: NewShare): Promise<void>;
  shares(sessionId: string): Promise<readonly (NewShare & { readonly at: number })[]>;
}
