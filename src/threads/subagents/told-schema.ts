// A schema that tells a model what to write and refuses nothing: the tool itself says what is wrong, in its own order.
import type { JsonMap } from "../../contracts/json.ts";
import type { StandardSchema } from "../schemas/tool-schema.ts";

export function toldSchema(json: JsonMap): StandardSchema<JsonMap, JsonMap> {
  return {
    "~standard": {
      version: 1,
      vendor: "holdfast",
      validate: (value: unknown) => ({ value: value as JsonMap }),
      jsonSchema: { input: () => json },
    },
  } as StandardSchema<JsonMap, JsonMap>;
}
