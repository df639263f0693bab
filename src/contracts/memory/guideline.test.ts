import { describe, expect, it } from "vitest";
import { type CapabilityTarget, mapCapability, PRIVATE_MEMORY, SHARED_GUIDANCE, termLabel } from "./guideline.ts";

const theirs: CapabilityTarget = { type: "wp_guideline", scope: PRIVATE_MEMORY, user_id: "7" };
const shared: CapabilityTarget = { type: "wp_guideline", scope: SHARED_GUIDANCE };
const other: CapabilityTarget = { type: "post", scope: PRIVATE_MEMORY, user_id: 7 };

const needed = (capability: string, user: number, target: CapabilityTarget | null) =>
  mapCapability(capability, user, { target, proposed: ["as the host says"] })[0];

describe("what a capability over guidelines takes", () => {
  it.each([
    ["read_agent_memory", "read"],
    ["edit_agent_memory", "edit_posts"],
    ["read_workspace_guidelines", "edit_posts"],
    ["edit_workspace_guidelines", "publish_posts"],
  ])("is the same for %s whatever it is about", (capability, need) => {
    expect([null, theirs, shared, other].map((target) => needed(capability, 8, target))).toEqual(Array(4).fill(need));
  });

  it.each([
    ["read_private_agent_memory", "read"],
    ["edit_private_agent_memory", "edit_posts"],
    ["promote_agent_memory", "promote_agent_memory"],
  ])("is nothing that anybody but the owner could hold for %s", (capability, need) => {
    expect(needed(capability, 7, theirs)).toBe(need);
    expect(needed(capability, 8, theirs)).toBe("do_not_allow");
    for (const target of [null, shared, other]) expect(needed(capability, 7, target)).toBe("do_not_allow");
  });

  it.each([
    ["read_post", "read", "read_workspace_guidelines"],
    ["edit_post", "edit_posts", "edit_workspace_guidelines"],
    ["delete_post", "edit_posts", "edit_workspace_guidelines"],
  ])("depends for %s on whose the record is", (capability, owner, workspace) => {
    expect(needed(capability, 7, theirs)).toBe(owner);
    expect(needed(capability, 8, theirs)).toBe("do_not_allow");
    expect(needed(capability, 8, shared)).toBe(workspace);
    expect(needed(capability, 8, { type: "wp_guideline" })).toBe(workspace);
    expect(needed(capability, 7, other)).toBe("as the host says");
    expect(needed(capability, 7, null)).toBe("as the host says");
  });

  it("is left to the host for everything else", () => {
    expect(needed("manage_options", 7, theirs)).toBe("as the host says");
    expect(needed("constructor", 7, theirs)).toBe("as the host says");
  });

  it("is out of reach for users when a private memory names no owner", () => {
    expect(needed("read_post", 7, { type: "wp_guideline", scope: PRIVATE_MEMORY })).toBe("do_not_allow");
  });
});

describe("the title of a kind of guideline", () => {
  it("stands for the name that nobody has changed", () => {
    const titled = (name: string, slug: string, taxonomy = "wp_guideline_type") =>
      termLabel({ name, slug }, taxonomy).name;
    expect(titled("artifact", "artifact")).toBe("Artifact");
    expect(titled("Mine", "artifact")).toBe("Mine");
    expect(titled("artifact", "artifact", "category")).toBe("artifact");
    expect(titled("toString", "toString")).toBe("toString");
    expect(termLabel({ name: "law", slug: "law" }, "wp_guideline_type", { law: "Law" }).name).toBe("Law");
  });
});
