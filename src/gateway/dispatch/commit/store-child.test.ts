import { expect, it } from "vitest";
import { createSealing } from "../../../threads/secrets/sealing.ts";
import type { Child } from "./new-child.ts";
import { createSealedJson } from "./sealed-json.ts";
import { storeChild } from "./store-child.ts";

it("the digest of a step, whose values may be secrets, is stored under the key of the installation", () => {
  const sealed = createSealedJson(createSealing(Buffer.alloc(32, 7)));
  const place = { pipeline: "p", step_id: "step_1", step_digest: "digest of the step", instance_id: "i", depth: 0 };
  const child: Child = {
    ...{ id: "one", plugin: "echo", command: "handle", payload: {}, submitted_by: "api", source_event_id: "event" },
    ...{ context_id: null, place, dedupe_key: null, max_attempts: 1, waits_for_instance: null, is_exempt: false },
  };
  const lineage = { parent_job_id: null, root_job_id: "one", user_id: null };
  const stored = storeChild(child, lineage, { sealed, dedupeKeepUs: 1 });
  expect(stored.place).toEqual({ ...place, step_digest: sealed.digest("digest of the step") });
  expect(stored.place?.step_digest).not.toContain("digest of the step");
});
