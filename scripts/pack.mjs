// Runs before and after npm packs the package. Inside the repository the exports name the sources, which Node runs as
// they are; it refuses to do so below node_modules, so the packed package names what `npm run build` makes of them, and
// has plugins compiled beside their manifests in the place of their sources.
import { execSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const manifest = new URL("../package.json", import.meta.url);
const plugins = new URL("../plugins/", import.meta.url);

if (process.argv[2] === "before") {
  rmSync(new URL("../dist", import.meta.url), { recursive: true, force: true });
  for (const command of ["npm run build", "tsc -p plugins/tsconfig.build.json"]) {
    execSync(command, { cwd: new URL("..", import.meta.url), stdio: ["ignore", "ignore", "inherit"] });
  }
  rewriteExports(toBuilt);
} else {
  for (const path of readdirSync(plugins, { recursive: true, encoding: "utf8" })) {
    if (path.endsWith(".ts")) rmSync(new URL(path.replace(/\.ts$/, ".js"), plugins), { force: true });
  }
  rewriteExports(toSource);
}

function rewriteExports(rewrite) {
  const content = JSON.parse(readFileSync(manifest, "utf8"));
  content.exports = Object.fromEntries(
    Object.entries(content.exports).map(([path, target]) => [path, rewrite(target)]),
  );
  content.bin = Object.fromEntries(Object.entries(content.bin).map(([name, file]) => [name, pathOf(rewrite(file))]));
  writeFileSync(manifest, `${JSON.stringify(content, null, 2)}\n`);
}

/** A program has no types. */
function pathOf(target) {
  return typeof target === "string" ? target : target.default;
}

function toBuilt(target) {
  const path = /^\.\/src\/(.+)\.ts$/.exec(target)?.[1];
  return path === undefined ? target : { types: `./dist/${path}.d.ts`, default: `./dist/${path}.js` };
}

function toSource(target) {
  return pathOf(target).replace(/^\.\/dist\/(.+)\.js$/, "./src/$1.ts");
}
