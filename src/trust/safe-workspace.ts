// A safe workspace: folders under a root of their own in which files are read and written by name, and none outside. Whatever
// goes wrong comes back as a coded refusal.
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { scalarText } from "../contracts/coerce.ts";
import type { UnknownMap } from "../contracts/json.ts";
import { isOperationError, type OperationError, operationError } from "../contracts/operation-error.ts";
import { safeHandle, safeSegments } from "../contracts/trust/safe-path.ts";

export type SafeWorkspaceOptions = {
  /** Off unless given. */
  readonly enabled?: boolean;
  /** A folder that is there already. */
  readonly root?: string;
  /** Where the program is: neither may lie within the other. The working directory unless given. */
  readonly applicationRoot?: string;
};

type Answer = Promise<UnknownMap | OperationError>;

export interface SafeWorkspace {
  /** Makes a workspace, or finds the one that there is. */
  prepare(input: UnknownMap): Answer;
  /** Those there are, by name. */
  list(): Answer;
  read(input: UnknownMap): Answer;
  /** Writes a whole file in place of what was there, and the folders that it stands in. */
  write(input: UnknownMap): Answer;
}

const TARGET = "agents-api/safe-execution-workspace";

export function createSafeWorkspace(options: SafeWorkspaceOptions): SafeWorkspace {
  return {
    async prepare({ handle: given }) {
      const handle = safeHandle(given);
      if (handle === undefined) return invalidHandle;
      const root = await rootOf(options);
      if (isOperationError(root)) return root;
      const path = join(root, handle);
      try {
        await mkdir(path, { recursive: true });
        if ((await lstat(path)).isDirectory()) return { success: true, handle, path, target: TARGET };
      } catch {
        // Told below.
      }
      return refused("prepare_failed", `The workspace "${handle}" could not be made.`);
    },

    async list() {
      const root = await rootOf(options);
      if (isOperationError(root)) return root;
      const found = await readdir(root, { withFileTypes: true }).catch(() => undefined);
      if (!found) return refused("root_unavailable", "The root of the workspaces cannot be read.");
      const handles = found.filter((each) => each.isDirectory()).map(({ name }) => name);
      return {
        success: true,
        root,
        workspaces: handles.sort().map((handle) => ({ handle, path: join(root, handle) })),
      };
    },

    async read(input) {
      const place = await placeOf(options, input);
      if (isOperationError(place)) return place;
      if (place.name === undefined) return noFile;
      const parent = await parentOf(place);
      if (isOperationError(parent)) return parent;
      const bytes = await readLeaf(join(parent, place.name));
      if (isOperationError(bytes)) return bytes;
      const { handle, path } = place;
      return { success: true, handle, path, content: bytes.toString("utf8"), bytes: bytes.byteLength };
    },

    async write(input) {
      const place = await placeOf(options, input);
      if (isOperationError(place)) return place;
      // What stands in the place of the workspace would stand outside of it.
      if (place.name === undefined) return leadsOut;
      const parent = await parentOf(place, { makes: true });
      if (isOperationError(parent)) return parent;
      const bytes = Buffer.from(textOf(input.content));
      const refusal = await writeLeaf(join(parent, place.name), bytes);
      const { handle, path } = place;
      return refusal ?? { success: true, handle, path, bytes: bytes.byteLength };
    },
  };
}

/** The root without links in it. */
async function rootOf({ enabled = false, root, applicationRoot = process.cwd() }: SafeWorkspaceOptions) {
  if (!enabled) return refused("disabled", "There are no safe workspaces here.");
  try {
    const real = await realpath(root ?? "");
    if (root === undefined || !(await lstat(real)).isDirectory()) throw new Error("The root is no folder.");
    const application = await realpath(applicationRoot);
    if (!isWithin(real, application) && !isWithin(application, real)) return real;
  } catch {
    return refused("root_unavailable", "The root of the workspaces is not there.");
  }
  return refused("root_not_isolated", "The root of the workspaces and the program lie within each other.");
}

/** A file of a workspace that is there, or the workspace itself. */
type Place = {
  readonly handle: string;
  readonly folder: string;
  readonly parents: readonly string[];
  /** Undefined for the workspace itself. */
  readonly name: string | undefined;
  /** Cleaned. */
  readonly path: string;
};

async function placeOf(options: SafeWorkspaceOptions, input: UnknownMap): Promise<Place | OperationError> {
  const handle = safeHandle(input.handle);
  if (handle === undefined) return invalidHandle;
  const segments = safeSegments(input.path);
  if (!segments) return refused("invalid_path", "path must be relative, and lead nowhere else.");
  const root = await rootOf(options);
  if (isOperationError(root)) return root;
  const folder = join(root, handle);
  if ((await kindOf(folder)) !== "folder") return refused("not_found", `There is no workspace "${handle}".`);
  return { handle, folder, parents: segments.slice(0, -1), name: segments.at(-1), path: segments.join("/") };
}

/** The real folder that a file stands in. Step by step: what is made behind a link would be made somewhere else. */
async function parentOf(
  { folder, parents }: Place,
  { makes = false }: { readonly makes?: boolean } = {},
): Promise<string | OperationError> {
  let parent = folder;
  for (const segment of parents) {
    const next = join(parent, segment);
    const kind = await kindOf(next);
    if (kind === "nothing" && !makes) return refused("path_not_found", "There is no such file.");
    if (kind === "nothing" && !(await isMade(next))) {
      return refused("directory_create_failed", `The folder "${segment}" could not be made.`);
    }
    const real = await realpath(next).catch(() => undefined);
    if (real === undefined || !isWithin(real, folder)) return leadsOut;
    if ((await kindOf(real)) !== "folder") {
      return makes
        ? refused("directory_create_failed", `"${segment}" is no folder.`)
        : refused("path_not_found", "There is no such file.");
    }
    parent = real;
  }
  return parent;
}

/** Links are not followed, also not one that somebody puts there in this very moment. */
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC } = constants;

async function readLeaf(path: string): Promise<Buffer | OperationError> {
  const kind = await kindOf(path);
  if (kind === "nothing") return refused("path_not_found", "There is no such file.");
  if (kind === "link") return refused("path_escape", "What stands there is a link.");
  if (kind !== "file") return noFile;
  try {
    await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return await file.readFile();
  } catch {
    return refused("file_read_failed", "The file could not be read.");
  }
}

async function writeLeaf(path: string, bytes: Buffer): Promise<OperationError | undefined> {
  const kind = await kindOf(path);
  if (kind === "link") return refused("path_escape", "What stands there is a link.");
  if (kind === "folder" || kind === "other") return refused("file_write_failed", "What stands there is no file.");
  try {
    await using file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0o600);
    await file.writeFile(bytes);
    return undefined;
  } catch {
    return refused("file_write_failed", "The file could not be written.");
  }
}

type Kind = "nothing" | "folder" | "file" | "link" | "other";

async function kindOf(path: string): Promise<Kind> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return "nothing";
  if (found.isSymbolicLink()) return "link";
  if (found.isDirectory()) return "folder";
  return found.isFile() ? "file" : "other";
}

async function isMade(path: string): Promise<boolean> {
  return await mkdir(path).then(
    () => true,
    // Somebody else may have been faster.
    async () => (await kindOf(path)) === "folder",
  );
}

function isWithin(path: string, folder: string): boolean {
  const from = relative(folder, path);
  return from === "" || (from !== ".." && !from.startsWith(`..${sep}`) && from !== path);
}

function textOf(content: unknown): string {
  return content === true ? "1" : (scalarText(content) ?? "");
}

function refused(code: string, message: string): OperationError {
  return operationError(`agents_workspace_${code}`, message);
}

const invalidHandle = refused("invalid_handle", "handle must be a word of letters, digits and . _ -");
const leadsOut = refused("path_escape", "The path leads out.");
const noFile = refused("file_not_readable", "What stands there is no file.");
