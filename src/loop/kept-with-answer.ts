// What the next request needs of an answer stays with the first message that it becomes.
import { isMap, type JsonMap } from "../contracts/json.ts";

/** Only what it is for: other names in the metadata of a message say what kind of message it is. */
const KEPT = ["reasoning", "provider_metadata", "attachments", "prompt"] as const;

export function metadataOf({ message_metadata }: JsonMap): JsonMap {
  if (!isMap(message_metadata)) return {};
  return Object.fromEntries(
    KEPT.flatMap((name) => {
      const value = (message_metadata as JsonMap)[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
