// What of a call's arguments becomes the beginning of what the call starts: a prompt, a child or another agent.

import { trimmed } from "../../contracts/coerce.ts";
import type { UnknownMap } from "../../contracts/json.ts";

/** Which arguments of a call become the first message, its files and the name of what the call starts. */
export type Init = {
  readonly initUserMessageProperty?: string;
  readonly initAttachmentsProperty?: string;
  readonly initAgentNameProperty?: string;
};

/** The three properties of an entry; those that are blank or of another kind are as good as not given. */
export function readInit(given: UnknownMap): Init {
  const message = trimmed(given.initUserMessageProperty);
  const attachments = trimmed(given.initAttachmentsProperty);
  const name = trimmed(given.initAgentNameProperty);
  return {
    ...(message !== undefined && { initUserMessageProperty: message }),
    ...(attachments !== undefined && { initAttachmentsProperty: attachments }),
    ...(name !== undefined && { initAgentNameProperty: name }),
  };
}
