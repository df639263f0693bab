import { expect, it } from "vitest";
import { request, validate } from "./structured-output.ts";

it("returns a request it made as it is", () => {
  const made = request({ schema: { type: "object" } });
  expect(request(made)).toBe(made);
  expect(Object.isFrozen(made.schema)).toBe(true);
});

it.each([
  [null, "structured_output"],
  [{ schema: "object" }, "schema"],
  [{ schema: {}, name: "" }, "name"],
  [{ schema: {}, name: "ends\n\n!" }, "name"],
  [{ schema: {}, name: "a".repeat(65) }, "name"],
  [{ schema: {}, strict: 1 }, "strict"],
  [{ schema: {}, strict: null }, "strict"],
  [{ schema: {}, format: null }, "format"],
  [{ schema: "object", format: "xml", name: "9" }, "schema"],
])("refuses %j and names %s", (value, field) => {
  expect(() => request(value)).toThrow(`invalid_agent_structured_output_request: ${field}`);
});

it("takes null for no name, and what is undefined for what is not given", () => {
  expect(request({ schema: {}, strict: undefined, format: undefined, name: null })).toEqual({
    format: "json_schema",
    schema: {},
    strict: true,
  });
});

it("tells whole numbers from others, and lists from maps", () => {
  expect(validate({ type: "integer" }, 1.5)).toBe("type_mismatch");
  expect(validate({ type: ["integer", "string"] }, "x")).toBeNull();
  expect(validate({ type: "object" }, [])).toBe("type_mismatch");
  expect(validate({ type: "array" }, {})).toBe("type_mismatch");
  expect(validate({ type: "number" }, null)).toBe("type_mismatch");
});

it("compares enum values by kind and content", () => {
  const schema = { enum: [1, { a: 1, b: [2] }, []] };
  expect(validate(schema, { b: [2], a: 1 })).toBeNull();
  expect(validate(schema, "1")).toBe("enum_mismatch");
  expect(validate(schema, {})).toBe("enum_mismatch");
});

it("looks inside properties and items", () => {
  const schema = {
    properties: { rows: { items: { required: ["id"], additionalProperties: false, properties: { id: {} } } } },
  };
  expect(validate(schema, { rows: [{ id: 1 }], other: true })).toBeNull();
  expect(validate(schema, { rows: [{ id: 1 }, {}] })).toBe("required_property_missing");
  expect(validate(schema, { rows: [{ id: 1, extra: 1 }] })).toBe("additional_property_forbidden");
});

it("does not take inherited names for properties", () => {
  expect(validate({ required: ["constructor"] }, {})).toBe("required_property_missing");
  expect(validate({ additionalProperties: false }, { toString: 1 })).toBe("additional_property_forbidden");
});
