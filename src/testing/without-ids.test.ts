import { expect, it } from "vitest";
import { withoutIds } from "./without-ids.ts";

it.each([
  ["(0b382000-77af-4059-a97d-dbdf51fb1061) has finished", "(<id>) has finished"],
  ["/attachments/plan-1a2b3c4d.txt.", "/attachments/plan-<copy>.txt."],
  ["/attachments/plan-1a2b3c4d-5e6f7a8b.txt", "/attachments/plan-<copy>-<copy>.txt"],
  ["/attachments/plan.txt and deadbeef", "/attachments/plan.txt and deadbeef"],
  ["/attachments/plan-deadbeefs.txt", "/attachments/plan-deadbeefs.txt"],
])("leaves of %s what another run says too", (text, left) => {
  expect(withoutIds(text)).toBe(left);
});
