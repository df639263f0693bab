// Runs before every npm script, on whatever Node the machine has: installs the locked dependencies when they are
// missing or out of date, among them the repository's own Node, which everything after this finds first on its path.
// Plain JavaScript without imports of ours, because at this point nothing of ours can be relied on.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const OLDEST_NODE = 24;
const LONGEST_WAIT_MS = 10 * 60 * 1000;
const MOST_RETRIES = 3;
const RETRY_AFTER_MS = 3_000;

const root = fileURLToPath(new URL("..", import.meta.url));
const binaries = join(root, "node_modules", ".bin");
const stamp = join(root, "node_modules", ".holdfast-lockfile-hash");
const onWindows = process.platform === "win32";

if (whatIsMissing()) {
  await lock();
  // Whoever held the lock before us may have installed what we came for.
  const why = whatIsMissing();
  if (why) await install(why);
}

async function install(why) {
  console.log(`Installing the dependencies with npm ci, because ${why}.`);
  // An install that was killed leaves parts behind, and children of it that may still be writing to them for a while.
  const wasCutOff = existsSync(join(root, "node_modules")) && read(stamp) === undefined;
  let installed = cleanInstall();
  for (let again = 0; !installed && wasCutOff && again < MOST_RETRIES; again++) {
    console.log("That met the remains of an install that was cut off. Trying again.");
    await pause(RETRY_AFTER_MS);
    installed = cleanInstall();
  }
  if (!installed) fail("npm ci did not succeed; its own words are above. Correct that and run the command again.");
  if (ownNode() < OLDEST_NODE) {
    fail(
      `the Node that npm ci installs (node_modules/.bin/node) does not run. Allow the install script of the package ` +
        `"node" (npm config get ignore-scripts), or use Node ${OLDEST_NODE} or newer yourself.`,
    );
  }
  writeFileSync(stamp, lockfileHash());
}

function cleanInstall() {
  // Not on the Node that is about to be replaced; and npm's remarks on the machine's older Node help nobody.
  const { status, error } = run("npm", ["ci", "--include=dev", "--loglevel=error"], pathWithout(binaries), "inherit");
  if (error) fail(`npm could not be started (${error.message}). Install npm 10 or newer.`);
  return status === 0;
}

/** The end of a sentence that says why an install is due, or undefined when everything is there. */
function whatIsMissing() {
  const installed = read(stamp);
  if (installed === undefined) return "they are not there yet";
  if (installed !== lockfileHash()) return "package-lock.json has changed";
  if (ownNode() < OLDEST_NODE) return "node_modules/.bin/node does not run";
  return undefined;
}

/** The major version of the Node that npm scripts will find, 0 when none runs. */
function ownNode() {
  const { stdout } = run("node", ["--version"], [binaries, pathWithout(binaries)].join(delimiter), "pipe");
  return Number(/^v(\d+)\./.exec(String(stdout))?.[1] ?? 0);
}

/** One install at a time, until this process ends. A lock whose holder has died is taken over. */
async function lock() {
  const file = join(tmpdir(), `holdfast-install-${createHash("sha256").update(root).digest("hex").slice(0, 16)}`);
  const end = Date.now() + LONGEST_WAIT_MS;
  for (let waited = false; !take(file); waited = true) {
    if (Date.now() > end) fail(`another command has been installing them for ten minutes. If none is, remove ${file}.`);
    if (!waited) console.log("Waiting for another command that installs the dependencies.");
    await pause(500);
    if (hasDied(read(file))) rmSync(file, { force: true });
  }
  process.on("exit", () => rmSync(file, { force: true }));
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    fail(`the lock ${file} could not be written (${error.message}).`);
  }
}

function hasDied(pid) {
  // Nothing to read: its holder is just writing or removing it.
  if (!pid) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

function lockfileHash() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function run(command, args, path, stdio) {
  const environment = Object.entries(process.env).filter(([name]) => name.toUpperCase() !== "PATH");
  // A shell on Windows only: there npm and the linked node are .cmd files.
  return spawnSync(command, args, {
    cwd: root,
    env: { ...Object.fromEntries(environment), PATH: path },
    stdio,
    shell: onWindows,
  });
}

function pathWithout(folder) {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .filter((entry) => entry !== folder)
    .join(delimiter);
}

function fail(why) {
  console.error(`The dependencies are not installed: ${why}`);
  process.exit(1);
}
