// The input of an operation whose contract says itself how it is read, and with which code each mistake is refused.
import { z } from "zod";

/** Shown as the schema, and taken as it comes: the operation reads it. Only what is longer than is shown is refused here. */
export function lenientInput(shown: z.ZodObject): z.ZodType<Record<string, unknown>, Record<string, unknown>> {
  const { $schema: _, ...schema } = z.toJSONSchema(shown, { io: "input", unrepresentable: "any" });
  const taken = z.record(z.string(), z.unknown()).superRefine((given, context) => {
    for (const issue of shown.safeParse(given).error?.issues ?? []) {
      const isTooLong = issue.code === "too_big" && (issue.origin === "string" || issue.origin === "array");
      if (isTooLong) context.addIssue({ code: "custom", path: [...issue.path], message: issue.message });
    }
  });
  return taken.meta(schema);
}
