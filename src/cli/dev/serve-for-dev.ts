// What the process of `holdfast dev` does that serves: it loads the project while another one may still serve, takes the
// database when it is told to, and gives it back.
import { once } from "node:events";
import { sqlite } from "../../backend/sqlite/sqlite.ts";
import { checkModels, createHoldfast } from "../../holdfast.ts";
import { checkGateway } from "../../index.ts";
import { createApp } from "../../server/app.ts";
import { setupOf, usualGatewayFile } from "../gateway/gateway-setup.ts";
import { configFiles, type OpenedProject, openProject } from "../project.ts";
import { refusalOf } from "../refusal.ts";
import { reloadGateway } from "../reload-on-hangup.ts";
import { type Serving, startServing } from "../running-server.ts";
import { tourFile } from "../tour/project.ts";
import { whatIsServed } from "../what-is-served.ts";
import { recordImports } from "./imported-files.ts";
import type { DevTask, FromServer, ToServer } from "./messages.ts";

export async function serveForDev(): Promise<void> {
  const cwd = process.cwd();
  const importedFiles = recordImports();
  let gatewayFiles: readonly string[] = [];
  let workflowFiles: readonly string[] = [];
  // A project that is made while the tour's is served takes its place.
  const files = () => [...importedFiles(), ...configFiles(cwd), tourFile, ...workflowFiles, ...gatewayFiles];
  try {
    const { task, tries } = await told("load");
    const project = await openProject({ ...task, env: process.env, cwd, importedFiles });
    workflowFiles = project.workflows.lookedAt;
    gatewayFiles = await filesOfGateway(project, cwd);
    if (tries) await tryOut(project, task);
    await tell({ type: "loaded", files: files(), ...(project.config !== undefined && { config: project.config }) });
    await told("serve");
    const serving = await startServing(project, task.listening);
    const ended = Promise.race([untilEnd(serving), once(process, "SIGTERM")]);
    await tell({ type: "serving", ...whatIsServed(serving, project) });
    await ended;
    await serving.close();
  } catch (thrown) {
    const { code, message, hint } = refusalOf(thrown);
    await tell({ type: "refused", files: files(), code, message, ...(hint !== undefined && { hint }) });
  }
}

/** Where there is no project, a gateway.yaml may come. */
async function filesOfGateway(
  { project: { gateway }, config }: OpenedProject,
  cwd: string,
): Promise<readonly string[]> {
  const usual = config === undefined ? [usualGatewayFile(cwd)] : [];
  if (gateway === undefined) return usual;
  const setup = setupOf(gateway);
  return [...usual, ...(await checkGateway(setup.config, { ...setup, cwd })).files];
}

/** Reads the gateway's configuration again whenever that is asked for, until the end is. */
function untilEnd({ holdfast }: Serving): Promise<void> {
  return new Promise((resolve) => {
    process.on("message", ({ type }: ToServer) => {
      if (type === "end") resolve();
      if (type === "reload") void reloadGateway(holdfast.gateway).then((text) => tell({ type: "reloaded", text }));
    });
  });
}

/**
 * On a database of its own, since the real one is still in use: what is wrong with the definitions shows there too. Nothing
 * runs: a schedule that is due on an empty database is not due on the real one.
 */
async function tryOut(project: OpenedProject, { listening }: DevTask): Promise<void> {
  const { gateway, ...options } = project.options();
  await checkModels(options);
  // Warnings are logged when it is served.
  const quiet = () => undefined;
  const holdfast = await createHoldfast({
    ...options,
    ...(gateway !== undefined && { gateway: { ...setupOf(gateway), onLog: quiet } }),
    backend: sqlite(":memory:"),
    runs: false,
    drainsOnSignal: false,
    onError: quiet,
  });
  try {
    createApp(holdfast, { ...project.project.server, ...listening });
  } finally {
    await holdfast.close();
  }
}

/** The next message; there is only one that can come. */
async function told<Type extends ToServer["type"]>(_type: Type): Promise<Extract<ToServer, { type: Type }>> {
  const [message] = await once(process, "message");
  return message as Extract<ToServer, { type: Type }>;
}

function tell(message: FromServer): Promise<void> {
  return new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
}
