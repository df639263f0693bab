import { expect, it } from "vitest";
import { chatWorld } from "../../../test/chat-world.ts";
import { typeCommand } from "../../../test/doors/type-command.ts";
import { memoryScope } from "../../memory/scope-of-layer.ts";
import { agent } from "../../threads/agent.ts";

it("forgets one memory, or all about somebody when it is told whose, and nothing when that is not clear", async () => {
  const { holdfast, url, token } = await chatWorld(agent({ slug: "desk", model: () => "Hello." }));
  const { memories } = holdfast;
  const [name, tone, others] = [
    memoryScope("user", "name", { user_id: 7 }),
    memoryScope("user", "tone", { user_id: 7 }),
    memoryScope("user", "name", { user_id: 8 }),
  ];
  for (const scope of [name, tone, others]) await memories.write(scope, "Ann");
  const left = () => Promise.all([name, tone, others].map((scope) => memories.exists(scope)));
  const forget = (...words: readonly string[]) => typeCommand(url, token, "memory", "forget", ...words);

  expect(await forget()).toContain("usage: Name the memory, or say --all and whose.");
  expect(await forget("--all")).toContain("usage: Say whose with --user, --agent or both.");
  for (const narrower of [["name"], ["--layer", "user"]]) {
    expect(await forget(...narrower, "--all", "--user", "7")).toContain("usage: --all takes no name and no --layer");
  }
  expect(await left()).toEqual([true, true, true]);
  expect(await forget("tone", "--user", "7")).toContain("Forgotten.");
  expect(await left()).toEqual([true, false, true]);
  expect(await forget("--all", "--user", "7")).toContain("Forgot 1.");
  expect(await left()).toEqual([false, false, true]);
});
