// Guidelines as they are stored. Nothing is checked here: who may see and change what is for the service above to say, and
// a list has to name the one user whose private records it may hold.
import type { GuidelineScope } from "../contracts/memory/guideline.ts";

export type Guideline = {
  readonly id: string;
  /** `artifact`, `content`, or what the host has registered. */
  readonly type: string;
  readonly title: string;
  readonly content: string;
  readonly scope: GuidelineScope;
  /** Whose private memory it is, or who wrote what is shared. */
  readonly user_id: number;
  readonly workspace_id: string;
  readonly status: string;
  /** Counts the changes, so that nobody overwrites what they have not seen. */
  readonly version: number;
  /** Microseconds, and so is the next. */
  readonly created_at: number;
  readonly updated_at: number;
  /** The private record that this one was made from. */
  readonly promoted_from: string | null;
  /** The user who has promoted it. */
  readonly promoted_by: number | null;
};

export type NewGuideline = Pick<
  Guideline,
  "id" | "type" | "title" | "content" | "scope" | "user_id" | "workspace_id" | "status"
>;

export type GuidelineChange = Partial<Pick<Guideline, "type" | "title" | "content" | "status">>;

/** Which records to show: those that are shared in a workspace, and the private ones of one user there. */
export type GuidelineFilter = {
  readonly workspace_id: string;
  readonly shared: boolean;
  readonly private_of: number | null;
  readonly type?: string | undefined;
  readonly status?: string | undefined;
};

export type GuidelinePage = {
  /** The last record of the page before. */
  readonly after?: Pick<Guideline, "created_at" | "id"> | undefined;
  readonly limit: number;
};

export type PrivateGuidelines = { readonly user_id: number; readonly workspace_id?: string | undefined };

export interface GuidelineStore {
  /** A repeat with the same id changes nothing and returns what is there. */
  create(guideline: NewGuideline): Promise<Guideline>;
  get(id: string): Promise<Guideline | undefined>;
  /** Oldest first. */
  list(filter: GuidelineFilter, page: GuidelinePage): Promise<readonly Guideline[]>;
  count(filter: GuidelineFilter): Promise<number>;
  /** Undefined when the version is another one by now, or the record is gone. */
  update(id: string, version: number, change: GuidelineChange): Promise<Guideline | undefined>;
  /** False when the version is another one by now. */
  delete(id: string, version: number): Promise<boolean>;
  /**
   * Makes a shared record of what a private one says in this version, which stays with its owner. A repeat returns the
   * one that was made. Undefined when the version is another one by now, or the record is not private.
   */
  promote(
    from: Pick<Guideline, "id" | "version">,
    to: { readonly id: string; readonly promoted_by: number },
  ): Promise<Guideline | undefined>;
  /** Erases the private records of a user, in one workspace or in all; says how many that were. What is shared stays. */
  forgetAll(of: PrivateGuidelines): Promise<number>;
}
