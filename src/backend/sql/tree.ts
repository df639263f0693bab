// A thread and all that descend from it, as what stands behind `in` in statements that concern them together.

/** Below a terminated thread all are terminated, so the search for those that are not ends there. */
export function livingTree(of: string): string {
  return tree(of, "where terminated_at is null");
}

export function wholeTree(of: string): string {
  return tree(of, "");
}

/** A thread and what it descends from. */
export function lineage(of: string): string {
  return `with recursive tree (id) as (
      select id from threads where id = ${of}
      union
      select threads.parent_id from tree join threads on threads.id = tree.id
    ) select id from tree`;
}

function tree(of: string, condition: string): string {
  return `with recursive tree (id) as (
      select id from threads where id in (${of})
      union
      select threads.id from tree join threads on threads.parent_id = tree.id ${condition}
    ) select id from tree`;
}
