// Where the files of runs are when the agent is a process of its own: below the root that the gateway tells, else in the
// folder that the request names, else below the root that the configuration names.
import { basename, dirname } from "node:path";
import { holdfastError } from "../../../contracts/error.ts";
import { workspaceRef } from "../../../contracts/gateway/agent/agentic-run.ts";
import { fileWorkspaces, folderWorkspace } from "../workspace/file-workspace.ts";
import type { AgentWorkspaces } from "../workspace/workspace.ts";

export type ProcessFolders = {
  /** Of all runs, as the gateway tells it. */
  readonly root: string | undefined;
  /** Of the run that the request is about: its `workspace_dir`. */
  readonly folder: string | undefined;
  /** `workspace_root` of the configuration. */
  readonly configuredRoot: string | undefined;
};

export function processWorkspaces({ root, folder, configuredRoot }: ProcessFolders): AgentWorkspaces {
  if (root !== undefined) return fileWorkspaces(root);
  let below = configuredRoot === undefined ? undefined : fileWorkspaces(configuredRoot);
  return {
    of(ref) {
      if (folder === undefined) {
        if (below) return below.of(ref);
        throw holdfastError("invalid_argument", "The request has no workspace_dir, and the config no workspace_root.");
      }
      // A folder with the name of its run lies beside those of the other runs, which may have to be removed.
      if (ref === workspaceRef(basename(folder))) below ??= fileWorkspaces(dirname(folder));
      return folderWorkspace(folder);
    },
    async remove(ref) {
      if (below) return await below.remove(ref);
      // A gateway that names folders in its own way removes them itself. Where none was named, a later turn may know more.
      return folder === undefined ? "unknown" : "removed";
    },
  };
}
