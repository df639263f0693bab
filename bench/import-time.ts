// What it costs a program to import the package, as it is published: built JavaScript.
import { execFile } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { figure, table } from "./markdown.ts";
import { median } from "./median.ts";
import type { Section, Size } from "./section.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const MOST_MS = 80;

/** Programs that import nothing else. */
const programs = [
  { says: "nothing", modules: [] },
  { says: "`holdfast`", modules: ["index.js"] },
  { says: "`holdfast` and `holdfast/sqlite`", modules: ["index.js", "backend/sqlite/sqlite.js"] },
  { says: "`holdfast` and `holdfast/postgres`", modules: ["index.js", "backend/postgres/postgres.js"] },
];

export const importTime: Section = {
  name: "import",
  title: "Importing the package",
  async measure(size: Size) {
    const samples = await inTemporaryFolder(async (folder) => {
      await build(folder);
      const files = await Promise.all(programs.map(({ modules }, index) => write(folder, index, modules)));
      const taken: number[][] = files.map(() => []);
      // The first round fills the caches of the file system.
      for (let round = -1; round < (size === "quick" ? 5 : 25); round++) {
        for (const [index, file] of files.entries()) {
          const milliseconds = await timed(file);
          if (round >= 0) taken[index]?.push(milliseconds);
        }
      }
      return taken;
    });
    const [empty = []] = samples;
    const beyond = samples.map((taken) => median(taken.map((each, round) => each - (empty[round] ?? 0))));
    return {
      targets: [
        {
          says: `Importing the package takes at most ${MOST_MS} ms beyond an empty process`,
          limit: { atMost: MOST_MS },
          measured: beyond[1],
          unit: "ms",
        },
      ],
      tables: [
        table(
          ["A process that imports", "milliseconds", "beyond the empty one"],
          programs.map(({ says }, index) => [
            says,
            figure(median(samples[index] ?? [])),
            index === 0 ? "–" : figure(beyond[index] ?? Number.NaN),
          ]),
        ),
      ],
      reading,
    };
  },
};

/** What is published, beside the packages that it needs. */
async function build(folder: string): Promise<void> {
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  await run(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json"), "--outDir", join(folder, "dist")]);
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
}

async function write(folder: string, index: number, modules: readonly string[]): Promise<string> {
  const file = join(folder, `program-${index}.js`);
  const imports = modules.map((module) => `import "${pathToFileURL(join(folder, "dist", module)).href}";\n`);
  await writeFile(file, imports.join(""));
  return file;
}

async function timed(file: string): Promise<number> {
  const start = performance.now();
  await run(process.execPath, [file]);
  return performance.now() - start;
}

const reading = `Processes that import the package as it is published, built by \`tsc\`, and end; from their start to their end, in turns
with a process that imports nothing. No cache of compiled code is used.`;
