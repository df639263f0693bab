// holdfast init: a project to begin with.
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { shellWord } from "../command-here.ts";
import { Refusal } from "../refusal.ts";
import type { Verb } from "../verb.ts";

// .mts: a module whatever the package around it says.
const files: Readonly<Record<string, string>> = {
  "holdfast.config.mts": `import { agent, tool } from "holdfast";
import { z } from "zod";

const greet = tool({
  name: "desk/greet",
  description: "Writes a greeting for somebody.",
  inputSchema: z.object({ name: z.string() }),
  execute: ({ name }) => \`Good to see you, \${name}.\`,
});

const note = tool({
  name: "desk/note",
  description: "Notes something down for everybody to read.",
  inputSchema: z.object({ text: z.string() }),
  actionPolicy: "preview", // a person decides
  execute: ({ text }) => ({ noted: text }),
});

export default {
  agents: [agent({ slug: "desk", description: "Greets people and notes things down.", tools: [greet, note] })],
};
`,
  ".gitignore": ".holdfast/\nnode_modules/\n",
};

export const initVerbs: readonly Verb[] = [
  {
    name: "init",
    summary: "make a project with an agent and two tools",
    takes: { "[folder]": "where; here unless given" },
    async run({ given, terminal, cwd }) {
      const folder = resolve(cwd, typeof given.folder === "string" ? given.folder : ".");
      const taken = Object.keys(files).filter((name) => name !== ".gitignore" && existsSync(join(folder, name)));
      if (taken.length > 0) {
        throw new Refusal(
          { code: "file_exists", message: `${taken.join(", ")} is there already.` },
          "Name another folder; nothing is overwritten.",
        );
      }
      await mkdir(folder, { recursive: true });
      const written = Object.entries(files).filter(([name]) => !existsSync(join(folder, name)));
      for (const [name, text] of written) await writeFile(join(folder, name), text, { flag: "wx" });
      const from = relative(cwd, folder);
      terminal.answer({ folder, files: written.map(([name]) => name) }, () => [
        ...written.map(([name]) => `wrote ${join(from, name)}`),
        "",
        ...(from === "" ? [] : [`cd ${shellWord(from)}`]),
        "npm install holdfast zod    # once",
        "npx holdfast dev            # serves it, and says what to do next",
        "npx holdfast chat           # talks with it",
      ]);
    },
  },
];
