// Workspaces as folders: one per run, below a root that is passed in.
import { randomUUID } from "node:crypto";
import { lstat, mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { holdfastError } from "../../../contracts/error.ts";
import { isMap } from "../../../contracts/json.ts";
import { isAbsent, readText } from "./tool-files.ts";
import { appendTrace, readTraceText } from "./trace-file.ts";
import { type AgentWorkspaces, isInnerPath, type RunWorkspace } from "./workspace.ts";

const TRACE = "trace.jsonl";
const ARTIFACTS = "artifacts";

/** The ids of jobs, here and under other gateways; never `.` or `..`, and nothing that a path could be made of. */
const FOLDER_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;
const REF_PREFIX = "job:";

/** Called right before a file takes effect; throws where this process may not write any more. */
export type BeforeWrite = () => void;

/** Workspaces below a root folder, which is made when the first run needs it. */
export function fileWorkspaces(root: string, beforeWrite: BeforeWrite = always): AgentWorkspaces {
  return {
    of: (ref) => folderWorkspace(join(root, folderName(ref)), beforeWrite),
    async remove(ref) {
      beforeWrite();
      // A link in the place of the folder is removed itself; what it leads to stays.
      await rm(join(root, folderName(ref)), { recursive: true, force: true });
      return "removed";
    },
  };
}

function always(): void {}

/** The folder of a workspace reference. Throws `invalid_argument` for one that names none. */
export function folderName(ref: string): string {
  const name = knownFolder(ref);
  if (name !== undefined) return name;
  throw holdfastError("invalid_argument", `${JSON.stringify(ref)} names no workspace folder.`);
}

/** The same, undefined for a reference that names none. */
export function knownFolder(ref: string): string | undefined {
  const name = ref.startsWith(REF_PREFIX) ? ref.slice(REF_PREFIX.length) : "";
  return FOLDER_NAME.test(name) ? name : undefined;
}

/** The workspace in one folder. */
export function folderWorkspace(folder: string, beforeWrite: BeforeWrite = always): RunWorkspace {
  return {
    read: async (file) => ((await isFolder(folder)) && (await readText(join(folder, file)))) || "",

    async write(file, content) {
      await replaceFile(join(await madeFolder(folder), file), content, beforeWrite);
    },

    async appendTrace(jobId, lines) {
      await appendTrace(join(await madeFolder(folder), TRACE), jobId, lines, beforeWrite);
    },

    async readTrace() {
      return readTraceText(((await isFolder(folder)) && (await readText(join(folder, TRACE), "end"))) || "");
    },

    async writeArtifact(path, content) {
      const name = basename(path);
      if (!isInnerPath(path) || path !== `${ARTIFACTS}/${name}`) throw outside(path);
      const artifacts = await madeFolder(join(await madeFolder(folder), ARTIFACTS));
      await replaceFile(join(artifacts, name), content, beforeWrite);
    },

    async readArtifact(path) {
      const real = await innerFile(folder, path);
      return real === undefined ? undefined : await readText(real);
    },

    hasArtifact: async (path) => (await innerFile(folder, path)) !== undefined,
  };
}

/** Where a file of the workspace really is; undefined when there is none, or when it is outside. */
async function innerFile(folder: string, path: string): Promise<string | undefined> {
  if (!isInnerPath(path)) return undefined;
  try {
    if (!(await isFolder(folder))) return undefined;
    const [root, real] = await Promise.all([realpath(folder), realpath(join(folder, path))]);
    if (!real.startsWith(root + sep)) return undefined;
    return (await lstat(real)).isFile() ? real : undefined;
  } catch (thrown) {
    if (isAbsent(thrown)) return undefined;
    throw thrown;
  }
}

/** The folder, made if it is not there. Throws where a link or a file stands in its place. */
async function madeFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((thrown: unknown) => {
    if (!(isMap(thrown) && thrown.code === "EEXIST")) throw thrown;
  });
  if (await isFolder(folder)) return folder;
  throw outside(folder);
}

/** False where a tool has put a link in its place, wherever that leads. */
async function isFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (thrown) {
    if (isAbsent(thrown)) return false;
    throw thrown;
  }
}

/** Written beside the old file and moved into its place: a crash or a full disk leaves the old one whole. */
async function replaceFile(path: string, content: string, beforeWrite: BeforeWrite): Promise<void> {
  beforeWrite();
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    beforeWrite();
    await rename(draft, path);
  } catch (thrown) {
    await rm(draft, { force: true }).catch(() => {});
    throw thrown;
  }
}

function outside(path: string) {
  return holdfastError("invalid_file_path", `${path} is not inside the workspace.`);
}
