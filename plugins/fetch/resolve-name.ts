// Names to addresses, by the operating system's resolver.
import { lookup } from "node:dns/promises";
import { failure, temporaryFailure } from "./failure.ts";

/** Every address of a name. Called once for each connection, which is then made to one of these addresses. */
export type ResolveName = (hostname: string) => Promise<readonly string[]>;

export const resolveName: ResolveName = async (hostname) => {
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTFOUND") throw failure(`There is no host called ${hostname}.`, error);
    throw temporaryFailure(`The name ${hostname} could not be resolved (${code}).`, error);
  }
};
