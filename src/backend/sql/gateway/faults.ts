// What must not be there: counters of the gateway that disagree with its jobs. Each counts the rows that are wrong.

export const gatewayFaults: Readonly<Record<string, string>> = {
  "jobs belong to no tree": `select count(*) as count from gateway_jobs
    where not exists (select 1 from gateway_trees where gateway_trees.root_job_id = gateway_jobs.root_job_id)`,
  "trees of jobs miscount the jobs that have not ended": `select count(*) as count from gateway_trees
    where outstanding <> (
      select count(*) from gateway_jobs where root_job_id = gateway_trees.root_job_id and due_at is not null
    ) or (outstanding = 0) <> (ended_at is not null)`,
  "identities of jobs are held too long, or not at all": `select abs(
      (select coalesce(sum(holders), 0) from gateway_dedupe)
      - (select count(*) from gateway_jobs where due_at is not null and dedupe_hash is not null)
    ) as count`,
};
