// Where the files of a run are when the agent is a process of its own: in the folder that the request names, else below
// the one that the configuration names.
import { basename, dirname } from "node:path";
import { holdfastError } from "../../../contracts/error.ts";
import { workspaceRef } from "../../../contracts/gateway/agent/agentic-run.ts";
import { fileWorkspaces, folderWorkspace } from "../workspace/file-workspace.ts";
import type { AgentWorkspaces } from "../workspace/workspace.ts";

export function processWorkspaces(folder: string | undefined, root: string | undefined): AgentWorkspaces {
  let below = root === undefined ? undefined : fileWorkspaces(root);
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
      await below?.remove(ref);
    },
  };
}
