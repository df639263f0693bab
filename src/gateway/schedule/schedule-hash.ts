// Tells a changed schedule from an unchanged one: a changed one is due by its new definition.
import { createHash } from "node:crypto";
import { sortedText } from "../../contracts/canonical-json.ts";
import type { Json } from "../../contracts/json.ts";
import type { ScheduleSettings } from "../config/gateway-config.ts";

export function scheduleHash({ when, timezone, command }: ScheduleSettings): string {
  const text = sortedText({ when, timezone, command } as Json);
  return createHash("sha256").update(text).digest("hex");
}
