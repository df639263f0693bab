// Runs the whole suite three times where a machine makes it hardest: beside as many busy processes as there are cores,
// on a single core, and with files and tests in random order. `node scripts/test-busy.mjs busy` runs only that one.
import { spawn, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));

const runs = {
  busy: async () => {
    const burners = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ["-e", "for (;;);"]));
    const putOut = () => {
      for (const burner of burners) burner.kill("SIGKILL");
    };
    // Nobody else ends them when this process is ended.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.once(signal, () => {
        putOut();
        process.exit(1);
      });
    }
    try {
      return await suite(process.execPath, [vitest, "run"]);
    } finally {
      putOut();
    }
  },
  "single-core": async () => {
    if (spawnSync("taskset", ["--version"]).status !== 0) return { lines: ["taskset is not installed"], passed: false };
    return await suite("taskset", ["--cpu-list", "0", process.execPath, vitest, "run"]);
  },
  shuffled: async () => {
    const seed = process.env.SEED ?? String(Date.now() % 1_000_000);
    const order = ["--sequence.shuffle.files", "--sequence.shuffle.tests", `--sequence.seed=${seed}`];
    const { lines, passed } = await suite(process.execPath, [vitest, "run", ...order]);
    return { lines: [`SEED=${seed}`, ...lines], passed };
  },
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(runs, name));
if (unknown.length > 0) {
  console.error(`There is no run "${unknown[0]}". Runs: ${Object.keys(runs).join(", ")}.`);
  process.exit(2);
}

const results = [];
for (const name of names.length > 0 ? names : Object.keys(runs)) {
  console.log(`\n${name}\n`);
  results.push({ name, ...(await runs[name]()) });
}
console.log("");
for (const { name, lines, passed } of results) {
  console.log(`${passed ? "passed" : "FAILED"}  ${name.padEnd(12)}  ${lines.join("  ")}`);
}
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;

/** Whether the suite passed, and its closing lines. */
function suite(command, args) {
  const running = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  running.stdout.setEncoding("utf8").on("data", (text) => {
    process.stdout.write(text);
    printed = (printed + text).slice(-4_000);
  });
  return new Promise((resolve) => {
    running.on("error", ({ message }) => resolve({ lines: [message], passed: false }));
    running.on("close", (code) => {
      const closing = stripVTControlCharacters(printed)
        .split("\n")
        .map((line) => line.trim());
      const lines = closing.filter((line) => /^(Test Files|Tests|Duration) /.test(line));
      resolve({ lines: lines.map((line) => line.replace(/\s+/g, " ")), passed: code === 0 });
    });
  });
}
