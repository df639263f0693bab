// What an approval is bound to, and who decided it.
import type { MigrationStatement } from "./migration.ts";

export const approvals: readonly MigrationStatement[] = [
  "alter table requests add column agent text not null default ''",
  "alter table requests add column creator text",
  "alter table requests add column workspace_type text",
  "alter table requests add column workspace_id text",
  "alter table requests add column policy_version text not null default ''",
  "alter table requests add column approvers text",
  "alter table requests add column resolver text",
  "alter table requests add column decided_by text",
  // Made with the installation's key when an answer is submitted: one that was written past us does not have it.
  "alter table requests add column answer_mac text",
  "create index requests_approvals on requests (created_at, id) where kind = 'approval'",
];
