// The table of guidelines. Who may see a row is said by its scope and its user, and by nothing else.
import type { MigrationStatement } from "./migration.ts";

export const guidelines: readonly MigrationStatement[] = [
  `create table guidelines (
    id text primary key,
    type text not null,
    title text not null,
    content text not null,
    scope text not null,
    user_id bigint not null,
    workspace_id text not null,
    status text not null,
    version bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    promoted_from text,
    promoted_by bigint
  )`,
  `create index guidelines_shared on guidelines (workspace_id, created_at, id)
    where scope = 'workspace_shared_guidance'`,
  `create index guidelines_private on guidelines (user_id, workspace_id, created_at, id)
    where scope = 'private_user_workspace_memory'`,
  // What was promoted is promoted once.
  "create unique index guidelines_promoted on guidelines (promoted_from) where promoted_from is not null",
];
