import { describe, expect, it } from "vitest";
import { createContextSections, hasContent } from "./context-sections.ts";

describe("context sections", () => {
  it("are registered under clean names, with every default", () => {
    const sections = createContextSections();
    const section = sections.register("My Context!", "--Memory_Policy--", 20, () => "x");
    expect(section).toMatchObject({
      context_slug: "my-context",
      slug: "memory_policy",
      priority: 20,
      retrieval_policy: "always",
      modes: ["all"],
      label: "Memory Policy",
      description: "",
      meta: {},
    });
    expect(sections.register("ctx", " ", 1, () => "x")).toBeNull();
    expect(sections.register("ctx", "a", 1, () => "x", { label: "" })).toMatchObject({ label: "" });
  });

  it("replace one of the same name", () => {
    const sections = createContextSections();
    sections.register("ctx", "a", 1, () => "old");
    sections.register("Ctx", "A", 1, () => "new");
    expect(sections.compose("ctx")).toMatchObject({ content: "new" });
  });

  it("write in order of priority and name, each told what it writes for", () => {
    const sections = createContextSections();
    const write = (context: { readonly [key: string]: unknown }, { slug }: { slug: string }) =>
      `${slug} ${context.who}`;
    sections.register("ctx", "b", 1, write);
    sections.register("ctx", "a", 1, write);
    sections.register("ctx", "c", 0, write);
    expect(sections.compose("ctx", { who: "me" })).toMatchObject({ content: "c me\n\na me\n\nb me" });
  });

  it("are asked in their modes only, and all of them when no mode is named", () => {
    const sections = createContextSections();
    sections.register("ctx", "chat", 1, () => "chat", { modes: ["Chat", "chat", ""] });
    sections.register("ctx", "cron", 1, () => "cron", { modes: ["cron"] });
    sections.register("ctx", "any", 1, () => "any");
    expect(sections.list("ctx", " CHAT ").map(({ slug }) => slug)).toEqual(["any", "chat"]);
    expect(sections.list("ctx", " ")).toHaveLength(3);
    expect(sections.list("ctx")).toHaveLength(3);
  });

  it("that write nothing are told apart from those that are included", () => {
    const sections = createContextSections();
    sections.register("ctx", "blank", 1, () => " \n");
    sections.register("ctx", "number", 1, () => 5);
    sections.register("ctx", "text", 1, () => " text\n");
    const composed = sections.compose("CTX");
    expect(composed).toMatchObject({
      slug: "CTX",
      content: "text",
      metadata: { included_sections: ["text"], section_count: 1 },
    });
    expect(sections.compose("none")).toMatchObject({ slug: "none", content: "", sections: [] });
  });

  it("may take their time, and keep their order all the same", async () => {
    const sections = createContextSections();
    const { promise, resolve } = Promise.withResolvers<string>();
    sections.register("ctx", "late", 1, () => promise);
    sections.register("ctx", "next", 2, () => {
      resolve("late");
      return "next";
    });
    const composed = await sections.compose("ctx");
    expect(composed.content).toBe("late\n\nnext");
    expect(hasContent(composed)).toBe(true);
  });

  it("pass on what one of them throws, and leave no failure unheard", async () => {
    const sections = createContextSections();
    sections.register("ctx", "a", 1, () => Promise.reject(new Error("late failure")));
    sections.register("ctx", "b", 2, () => {
      throw new Error("early failure");
    });
    expect(() => sections.compose("ctx")).toThrow("early failure");
    sections.register("ctx", "b", 2, () => "b");
    await expect(sections.compose("ctx")).rejects.toThrow("late failure");
  });

  it("ask the host once for more, and again after a reset", () => {
    let asked = 0;
    const sections = createContextSections({
      onFirstRead: (registry) => registry.register("ctx", `late${++asked}`, 1, () => "late"),
    });
    expect(sections.list("ctx")).toHaveLength(1);
    expect(sections.list("ctx")).toHaveLength(1);
    sections.reset();
    expect(sections.list("ctx").map(({ slug }) => slug)).toEqual(["late2"]);
  });

  it("let the host put another text in place of theirs, and ignore what is none", async () => {
    const composed = async (replaceContent: (content: string) => unknown) => {
      const sections = createContextSections({ replaceContent });
      sections.register("ctx", "a", 1, () => "a");
      return (await sections.compose("ctx")).content;
    };
    expect(await composed((content) => `${content}!`)).toBe("a!");
    expect(await composed(async () => "later")).toBe("later");
    expect(await composed(() => 5)).toBe("a");
    const fails = () => {
      throw new Error("no");
    };
    expect(await composed(fails)).toBe("a");
  });
});
