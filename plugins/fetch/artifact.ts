// Writes the body into the workspace: below artifacts/, complete or not at all, and never through a symbolic link that
// leads out of the workspace.
import { constants } from "node:fs";
import { lstat, mkdir, open, readFile, realpath, rename, rm } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { failure, temporaryFailure } from "./failure.ts";

export type Artifact = {
  readonly workspace: string;
  /** Without its ending, such as `fetch-01`. */
  readonly name: string;
  readonly ending: string;
  readonly jobId: string;
};

const FULL = ["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EIO", "ENOMEM"];

/**
 * Writes the file and returns its path relative to the workspace. The same body again is the same file; a file that
 * another job wrote under this name stays, and the new one has the job's id in its name.
 */
export async function writeArtifact(artifact: Artifact, body: Buffer): Promise<string> {
  try {
    const folder = await artifactsFolder(artifact.workspace);
    const job = artifact.jobId.replace(/[^\w-]/g, "").slice(-32) || "job";
    const [plain, own] = [`${artifact.name}.${artifact.ending}`, `${artifact.name}-${job}.${artifact.ending}`] as const;
    const name = (await isFreeFor(join(folder, plain), body)) ? plain : own;
    await replace(folder, name, `.${artifact.name}-${job}.tmp`, body);
    return `artifacts/${name}`;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const sentence = `The artifact could not be written: ${message}.`;
    throw FULL.includes(code) ? temporaryFailure(sentence, error) : failure(sentence, error);
  }
}

/** The real path of `artifacts`, which is made if it is missing. */
async function artifactsFolder(workspace: string): Promise<string> {
  if (!isAbsolute(workspace)) throw failure("workspace_dir is not an absolute path.");
  const root = await realpath(workspace);
  await mkdir(join(root, "artifacts")).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const folder = await realpath(join(root, "artifacts"));
  if (!isInside(root, folder)) throw failure("The workspace's artifacts folder leads out of the workspace.");
  return folder;
}

async function replace(folder: string, name: string, temporary: string, body: Buffer): Promise<void> {
  const path = join(folder, temporary);
  await rm(path, { force: true });
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644);
  try {
    // The folder may have been exchanged for a link since it was checked: then nothing is written.
    if ((await realpath(path)) !== path) throw failure("The workspace changed while the artifact was being written.");
    await file.writeFile(body);
    await file.sync();
    await rename(path, join(folder, name));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function isFreeFor(path: string, body: Buffer): Promise<boolean> {
  try {
    const present = await lstat(path);
    return present.isFile() && present.size === body.length && (await readFile(path)).equals(body);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw error;
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
