// What is kept beside the database, and where that is, whatever the project is.
import { join, resolve } from "node:path";

export type DataFolder = {
  readonly path: string;
  readonly database: string;
  readonly ownerToken: string;
  /** Where a server says that it is, while it runs. */
  readonly server: string;
};

export type DataPlace = {
  /** `.holdfast` unless given. */
  readonly data?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
};

export function dataFolder({ data, env, cwd }: DataPlace): DataFolder {
  const path = resolve(cwd, data ?? env.HOLDFAST_DATA ?? ".holdfast");
  return {
    path,
    database: join(path, "holdfast.db"),
    ownerToken: join(path, "owner-token"),
    server: join(path, "server.json"),
  };
}
