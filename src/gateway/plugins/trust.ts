// Whether an entry point may be executed: checked when its plugin is discovered, and again right before every start.
import { createHash } from "node:crypto";
import { accessSync, type BigIntStats, constants, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { errorMessage } from "../../contracts/error.ts";
import { whyNoProgram } from "./program-file.ts";

export type EntryPointPlace = {
  /** The plugin's folder and the root it was found in, as they are written; links are resolved here. */
  readonly folder: string;
  readonly root: string;
  /** Relative to the folder. */
  readonly entrypoint: string;
  readonly allowSymlinks: boolean;
};

export type EntryPoint = {
  /** The real path, which is what is executed. */
  readonly file: string;
  readonly fingerprint: Fingerprint;
  /** See `whyNoProgram`: it is trusted, and not started all the same. */
  readonly startProblem: string | undefined;
};

/** Identifies the content of a file: by its hash, or by the file itself when it is too large to hash before every start. */
export type Fingerprint =
  | { readonly sha256: string }
  | {
      readonly device: bigint;
      readonly inode: bigint;
      readonly size: bigint;
      readonly modified: bigint;
      readonly changed: bigint;
    };

export type TrustCheck = { readonly entry: EntryPoint } | { readonly problem: string };

const LARGEST_HASHED = 1024n * 1024n;

const WRITABLE_BY_ALL = 0o002n;

/** Looks at the files as they are now. */
export function checkTrust(place: EntryPointPlace): TrustCheck {
  try {
    return check(place);
  } catch (thrown) {
    return { problem: `the entry point ${place.entrypoint} cannot be used: ${errorMessage(thrown)}` };
  }
}

/** `checkTrust` once more, and the entry point has to have the content that it had at its discovery. */
export function recheckTrust(place: EntryPointPlace, known: EntryPoint): TrustCheck {
  const now = checkTrust(place);
  if ("problem" in now) return now;
  if (now.entry.file === known.file && isSame(now.entry.fingerprint, known.fingerprint)) return now;
  return { problem: `the entry point ${known.file} has changed since the plugin was discovered` };
}

function check({ folder, root, entrypoint, allowSymlinks }: EntryPointPlace): TrustCheck {
  const realRoot = realpathSync(root);
  const realFolder = realpathSync(folder);
  const file = realpathSync(join(folder, entrypoint));
  if (!isInside(realRoot, realFolder)) return { problem: `the folder ${folder} is outside its plugin root ${root}` };
  if (realFolder === file || !isInside(realFolder, file)) {
    return { problem: `the entry point ${entrypoint} is outside the plugin's folder ${folder}` };
  }
  // The root itself may be a link: its path is the operator's own.
  const unlinked = join(realRoot, relative(root, folder), entrypoint);
  if (!allowSymlinks && unlinked !== file) {
    return {
      problem: `the entry point ${entrypoint} is reached by a symbolic link, and service.allow_symlinks is off`,
    };
  }
  const stats = statSync(file, { bigint: true });
  if (!stats.isFile()) return { problem: `the entry point ${entrypoint} is not a file` };
  const open = [file, ...foldersUpTo(realFolder, file)].find(isWritableByAll);
  if (open !== undefined) return { problem: `${open} can be written by every user of this machine` };
  if (!isExecutable(file)) return { problem: `the entry point ${entrypoint} is not executable` };
  return { entry: { file, fingerprint: identify(file, stats), startProblem: whyNoProgram(file) } };
}

function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The folders that a file is in, up to and including one of them. */
function foldersUpTo(top: string, file: string): readonly string[] {
  const folder = dirname(file);
  return folder === top ? [folder] : [folder, ...foldersUpTo(top, folder)];
}

function isWritableByAll(path: string): boolean {
  return (statSync(path, { bigint: true }).mode & WRITABLE_BY_ALL) !== 0n;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function identify(file: string, stats: BigIntStats): Fingerprint {
  if (stats.size <= LARGEST_HASHED) return { sha256: createHash("sha256").update(readFileSync(file)).digest("hex") };
  const { dev: device, ino: inode, size, mtimeNs: modified, ctimeNs: changed } = stats;
  return { device, inode, size, modified, changed };
}

function isSame(left: Fingerprint, right: Fingerprint): boolean {
  if ("sha256" in left || "sha256" in right) {
    return "sha256" in left && "sha256" in right && left.sha256 === right.sha256;
  }
  return (
    left.device === right.device &&
    left.inode === right.inode &&
    left.size === right.size &&
    left.modified === right.modified &&
    left.changed === right.changed
  );
}
