// The proof that the matrix can fail: the product is copied, one of its promises is taken out of the copy, and the part
// of the matrix that watches over that promise is run against it. It has to be red.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

type Edit = { readonly file: string; readonly from: string; readonly to: string };

/** `run`: the arguments with which the matrix is run against it. */
export type Mutation = { readonly name: string; readonly edits: readonly Edit[]; readonly run: readonly string[] };

export type Checked = {
  readonly name: string;
  /** What the matrix said about it. */
  readonly noticed?: string;
  /** That it said nothing, or could not be run. */
  readonly problem?: string;
};

export type MutationOptions = {
  /** The program that runs the matrix, and of which server. */
  readonly matrix: string;
  readonly url: string;
};

export async function checkEach(mutations: readonly Mutation[], options: MutationOptions): Promise<readonly Checked[]> {
  const checked: Checked[] = [];
  for (const mutation of mutations) checked.push({ name: mutation.name, ...(await check(mutation, options)) });
  return checked;
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const copied = [
  ...["src", "plugins", "test/survives-a-crash", "test/gateway-crashes", "test/postgres.ts", "test/ready-databases.ts"],
  "package.json",
];

async function check({ edits, run }: Mutation, options: MutationOptions): Promise<Omit<Checked, "name">> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-mutation-"));
  try {
    for (const path of copied) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await cp(join(root, path), join(folder, path), { recursive: true });
    }
    await symlink(join(root, "node_modules"), join(folder, "node_modules"), "dir");
    for (const edit of edits) await apply(edit, folder);
    const { code, output } = await runMatrix(folder, run, options);
    if (code === 0) return { problem: "nothing noticed it" };
    // A program that falls over ends with 1 as well; only one that says so has found something.
    if (code !== 1 || !output.includes("\nRED:")) return { problem: `it could not be tried:\n${output}` };
    const [, ...complaints] = output.split("\n").filter((line) => line.startsWith("  "));
    return { noticed: (complaints.find((line) => !line.includes(" at ")) ?? output).trim() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A change that finds nothing to change would prove nothing, so it fails loudly. */
async function apply({ file, from, to }: Edit, folder: string): Promise<void> {
  const path = join(folder, file);
  const text = await readFile(path, "utf8");
  if (text.split(from).length !== 2) throw new Error(`${file} does not hold this text exactly once:\n${from}`);
  await writeFile(
    path,
    text.replace(from, () => to),
  );
}

async function runMatrix(folder: string, args: readonly string[], { matrix, url }: MutationOptions) {
  const program = join(folder, matrix);
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, DATABASE_URL: url },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  await once(child, "close");
  return { code: child.exitCode, output };
}
