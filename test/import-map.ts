// Which folder of src/ may import from which, and the check that compares this table with the real imports.

/** Who may do what, what is remembered, and the proof of it: what threads ask and nobody asks of them. */
const keeping = ["trust", "memory", "audit"] as const;

/** What every part of the gateway stands on; only its own rim sees threads and operations. */
const underGateway = ["contracts", "yaml", "backend", "engine", "models", "trust", "audit"] as const;

/**
 * The folders from the innermost to the rim, each with those it may import from besides itself. A driver knows its
 * port and never another driver; only the rim picks one. Files directly in src/ count as folders of their own.
 */
export const mayImport: ImportTable = {
  contracts: [],
  yaml: ["contracts"],
  loop: ["contracts"],
  backend: ["contracts", "loop"],
  "backend/sql": ["contracts", "loop", "backend"],
  "backend/sqlite": ["contracts", "loop", "backend", "backend/sql"],
  "backend/postgres": ["contracts", "loop", "backend", "backend/sql"],
  engine: ["contracts", "backend"],
  models: ["contracts", "loop"],
  "models/ai-sdk": ["contracts", "models"],
  "models/scripted": ["contracts", "models"],
  "models/demo": ["contracts", "models"],
  "models/choose": ["contracts", "models", "models/ai-sdk", "models/demo"],
  trust: ["contracts", "backend"],
  memory: ["contracts", "backend", "trust"],
  audit: ["contracts", "backend", "trust"],
  threads: ["contracts", "loop", "backend", "engine", "models", ...keeping],
  abilities: ["contracts", "loop", "backend", "models", ...keeping, "threads"],
  workflows: ["contracts", "loop", "backend", "models", ...keeping, "threads", "abilities"],
  "workflows/files": ["contracts", "yaml"],
  "workflows/machine": ["contracts"],
  "workflows/steps": ["contracts", "threads", "workflows/machine"],
  "workflows/builder": ["contracts", "threads", "workflows/steps"],
  "workflows/durable": [
    ...["contracts", "backend", "engine", ...keeping, "threads", "abilities"],
    ...["workflows/machine", "workflows/steps"],
  ],
  "workflows/operations": [...["contracts", "backend", "memory", "threads", "abilities", "workflows/durable"]],
  "workflows/operate": ["contracts", "backend", "threads", "abilities", "workflows/machine", "workflows/durable"],
  "workflows/in-memory": ["contracts", "workflows/machine", "workflows/steps"],
  "agents-api": ["contracts", "workflows", "workflows/durable"],
  "agents-api/operations": [
    ...["contracts", "backend", "abilities", "agents-api"],
    ...["workflows/durable", "workflows/in-memory", "workflows/operations"],
  ],
  channels: ["contracts", "loop", "backend", "models", ...keeping, "threads", "abilities", "workflows"],
  gateway: underGateway,
  "gateway/agent/process": ["contracts", "models", "models/choose", "gateway"],
  "gateway/dispatch": [...underGateway, "gateway", "threads"],
  "gateway/operations": [...underGateway, "gateway", "gateway/dispatch", "threads", "abilities"],
  "holdfast.ts": [
    ...["contracts", "loop", "backend", "engine", "models", ...keeping, "threads", "abilities", "workflows"],
    ...[
      "agents-api/operations",
      "channels",
      "workflows/durable",
      "workflows/operations",
      "workflows/operate",
      "workflows/steps",
      "gateway",
      "gateway/agent/process",
      "gateway/dispatch",
      "gateway/operations",
      "backend/sql",
      "models/choose",
    ],
  ],
  "index.ts": [
    ...["contracts", "loop", "engine", "models", ...keeping, "threads", "abilities", "workflows", "channels"],
    ...["agents-api", "gateway", "gateway/dispatch", "gateway/operations", "holdfast.ts"],
    ...["workflows/builder", "workflows/durable", "workflows/files", "workflows/in-memory", "workflows/steps"],
  ],
  "database.ts": ["contracts", "backend", "backend/sql", "threads"],
  server: ["contracts", "abilities", "workflows/operations", "gateway", "gateway/operations", "holdfast.ts"],
  cli: [
    "contracts",
    "abilities",
    "workflows/files",
    "workflows/operations",
    "index.ts",
    "holdfast.ts",
    "server",
    "backend/sqlite",
    "backend/postgres",
    "models/choose",
    "database.ts",
  ],
  testing: [
    ...["contracts", "loop", "backend", "engine", "models", "threads", "gateway", "holdfast.ts"],
    ...["models/scripted", "backend/sqlite", "backend/postgres", "workflows/steps"],
  ],
};

/** What the innermost folders may import from outside the project; the others are free in this. */
export const mayUse: ImportTable = {
  contracts: ["zod", "node:crypto", "re2js"],
  loop: [],
};

export type ImportTable = Readonly<Record<string, readonly string[]>>;

/** Imports of each file by its path below src/: paths below src/ too, or the specifier of what is outside. */
export type ImportGraph = Readonly<Record<string, readonly string[]>>;

/** A sentence for every import that the tables do not allow. */
export function forbiddenImports(graph: ImportGraph, inside: ImportTable, outside: ImportTable): string[] {
  return Object.entries(graph).flatMap(([file, imports]) => {
    const folder = folderOf(file, inside);
    if (folder === undefined) return [`${file} is in no folder of the table`];
    const packages = outside[folder];
    return imports.flatMap((target) => {
      if (!Object.hasOwn(graph, target)) {
        return packages === undefined || packages.includes(target) ? [] : [`${file} uses ${target}`];
      }
      const targetFolder = folderOf(target, inside);
      if (targetFolder === undefined || targetFolder === folder) return [];
      return inside[folder]?.includes(targetFolder) ? [] : [`${file} imports ${target}`];
    });
  });
}

/** The files of every cycle, as `a → b → a`. */
export function cycles(graph: ImportGraph): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start !== -1) found.push([...path.slice(start), file].join(" → "));
    if (start !== -1 || done.has(file)) return;
    for (const target of graph[file] ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of Object.keys(graph)) visit(file, []);
  return found;
}

function folderOf(file: string, table: ImportTable): string | undefined {
  return Object.keys(table)
    .filter((folder) => file === folder || file.startsWith(`${folder}/`))
    .sort((left, right) => right.length - left.length)[0];
}
