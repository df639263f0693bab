// What a server is about: plain data, so that the process that serves can tell it to the one that greets.
import { unnamedModel } from "../models/choose/unnamed-model.ts";
import type { OpenedProject } from "./project.ts";
import type { Serving } from "./running-server.ts";

export type Served = {
  readonly url: string;
  readonly token_file: string;
  /** The owner's token, when it was made just now; see `Terminal.confide`. */
  readonly new_token?: string;
  readonly agents: readonly string[];
  readonly workflows: readonly string[];
  /** Who answers for agents that name no model themselves; null where all of them do. */
  readonly model: string | null;
  /** True where no project was found. */
  readonly is_tour: boolean;
  /** True where its gateway is the tour's too. */
  readonly has_tour_gateway: boolean;
};

export function whatIsServed(serving: Serving, { config, hasTourGateway }: OpenedProject): Served {
  const { url, tokenFile, newToken, holdfast } = serving;
  const agents = [...holdfast.agents.values()];
  const leavesItOpen = agents.some(({ style, model }) => style === "agents_api" && model === undefined);
  return {
    ...{ url, token_file: tokenFile, agents: agents.map(({ slug }) => slug) },
    workflows: holdfast.workflows.list().map(({ id }) => id),
    ...(newToken !== undefined && { new_token: newToken }),
    model: leavesItOpen ? unnamedModel(process.env) : null,
    is_tour: config === undefined,
    has_tour_gateway: hasTourGateway,
  };
}
