import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../contracts/json.ts";
import { normalizeForServer } from "../../contracts/tools/declaration.ts";
import { fillParameters } from "./fill-parameters.ts";
import { readText } from "./tokens.ts";

/** Parameters that are all required, as a real model would be shown them. */
function fill(text: string, properties: JsonMap, declared: JsonMap = {}) {
  const parameters = { type: "object", properties, required: Object.keys(properties) };
  const tool = normalizeForServer({ name: "a/tool", source: "a", description: "A tool.", parameters, ...declared });
  return fillParameters(tool, readText(text));
}

const text = { type: "string" };
const whole = { type: "integer" };
const number = { type: "number" };
const flag = { type: "boolean" };

describe("an order and an amount in cents", () => {
  const properties = { order: text, cents: { type: "integer", exclusiveMinimum: 0 } };
  it.each([
    ["Please refund order 7, 12 euros.", { order: "7", cents: 1200 }],
    ["Refund $12.50 for order #A-17", { order: "A-17", cents: 1250 }],
    ["I would like 12,50 € back for my order no. 7.", { order: "7", cents: 1250 }],
    ["Give me 1.200 euros back, order number 2026-17!", { order: "2026-17", cents: 120_000 }],
    ["order: 7, cents: 1200", { order: "7", cents: 1200 }],
    ["order=B17 cents=5", { order: "B17", cents: 5 }],
    ["refund 50 cents of order 7", { order: "7", cents: 50 }],
    ['Refund twelve dollars for the order called "spring sale"', { order: "spring sale", cents: 1200 }],
    ["Order 7 was broken. EUR 12.29 would be fair.", { order: "7", cents: 1229 }],
  ])("are read from “%s”", (said, parameters) => {
    expect(fill(said, properties)).toEqual({ parameters, missing: [] });
  });

  it.each([
    ["Refund my order please", {}, ["order", "cents"]],
    ["Refund the order, it came late yesterday", {}, ["order", "cents"]],
    ["Refund order 7", { order: "7" }, ["cents"]],
    ["Refund order 7, 12", { order: "7" }, ["cents"]],
    ["Refund 12 euros", { cents: 1200 }, ["order"]],
    ["Refund -12 euros for order 7", { order: "7" }, ["cents"]],
    ["", {}, ["order", "cents"]],
  ])("are missed in “%s” rather than guessed", (said, parameters, missing) => {
    expect(fill(said, properties)).toEqual({ parameters, missing });
  });
});

describe("a parameter is filled by its schema", () => {
  it.each<[what: string, said: string, properties: JsonMap, parameters: JsonMap]>([
    ["an amount in whole units", "Pay 12.50 euros", { amount: number }, { amount: 12.5 }],
    ["an amount as text", "Pay 12.50 euros", { amount: text }, { amount: "12.5" }],
    [
      "an amount that its description explains",
      "Pay 3 euros",
      { value: { ...whole, description: "In cents." } },
      { value: 300 },
    ],
    [
      "a currency",
      "Pay 12 dollars",
      { amount: number, currency: { type: "string", enum: ["EUR", "USD"] } },
      { amount: 12, currency: "USD" },
    ],
    ["a place behind “in”", "How warm is it in Oslo?", { city: text }, { city: "Oslo" }],
    ["a place of two words", "The weather in New York today?", { city: text }, { city: "New York" }],
    ["a place in small letters", "what's the weather in oslo", { city: text }, { city: "oslo" }],
    ["two places", "I want to fly from Lisbon to Oslo", { from: text, to: text }, { from: "Lisbon", to: "Oslo" }],
    ["a person", "Book a table for Ana Silva", { name: text }, { name: "Ana Silva" }],
    ["a person who introduces herself", "My name is Ana", { customer_name: text }, { customer_name: "Ana" }],
    ["a number before its name", "3 nights for 2 adults", { nights: whole, adults: whole }, { nights: 3, adults: 2 }],
    [
      "a number behind its name",
      "quantity 3 of article 17",
      { article: whole, quantity: whole },
      { article: 17, quantity: 3 },
    ],
    ["a number in words", "A table for four", { guests: whole }, { guests: 4 }],
    ["the one number there is", "What is the square root of 2.25?", { x: number }, { x: 2.25 }],
    ["a choice", "Ship it by express please", { method: { enum: ["standard", "express"] } }, { method: "express" }],
    [
      "a choice of several words",
      "Mark it as pending review",
      { status: { enum: ["pending", "pending review"] } },
      { status: "pending review" },
    ],
    ["a choice in another word", "Please erase it", { action: { enum: ["delete", "keep"] } }, { action: "delete" }],
    ["a date", "Remind me on 2026-11-16", { day: { type: "string", format: "date" } }, { day: "2026-11-16" }],
    [
      "a time of a date",
      "At 2026-11-16 10:30 please",
      { at: { type: "string", format: "date-time" } },
      { at: "2026-11-16T10:30:00Z" },
    ],
    ["an address", "Write to ana@example.com.", { to: { type: "string", format: "email" } }, { to: "ana@example.com" }],
    ["a link", "Read https://example.com/a?b=1.", { url: text }, { url: "https://example.com/a?b=1" }],
    ["a flag", "This is urgent", { urgent: flag }, { urgent: true }],
    ["a flag that is denied", "This is not urgent", { urgent: flag }, { urgent: false }],
    ["a flag that is answered", "urgent: no", { is_urgent: flag }, { is_urgent: false }],
    ["a quotation", 'Say "good morning" to them', { greeting: text }, { greeting: "good morning" }],
    ["what may be any text", "Search for red shoes", { query: text }, { query: "red shoes" }],
    ["what follows a colon", "Write to them: Hello. I am late.", { message: text }, { message: "Hello. I am late." }],
    ["all that was said", "Is it open today?", { question: text }, { question: "Is it open today?" }],
    [
      "a note to the end of its sentence",
      "Cancel it, reason: it came two days late. Thanks!",
      { reason: text },
      { reason: "it came two days late" },
    ],
    [
      "a list",
      "Add the tags red, blue and green",
      { tags: { type: "array", items: text } },
      { tags: ["red", "blue", "green"] },
    ],
    ["a list of numbers", "Add 2, 3 and 5.5", { terms: { type: "array", items: number } }, { terms: [2, 3, 5.5] }],
    [
      "a list of choices",
      "Ham please, and also some cheese",
      { toppings: { type: "array", items: { enum: ["ham", "cheese", "egg"] } } },
      { toppings: ["ham", "cheese"] },
    ],
    [
      "a map",
      "Deliver to Oslo",
      { address: { type: "object", properties: { city: text }, required: ["city"] } },
      { address: { city: "Oslo" } },
    ],
    ["a name in two words", "The party size is 4", { party_size: whole }, { party_size: 4 }],
    ["a name in camel case", "ticket 88 please", { ticketId: text }, { ticketId: "88" }],
    ["a constant", "Do it", { version: { const: 2 } }, { version: 2 }],
    ["null for what may be none", "Do it", { note: { type: ["string", "null"] } }, { note: null }],
    [
      "a pattern",
      "Account PT50 or 12",
      { account: { type: "string", pattern: "^[A-Z]{2}\\d+$" } },
      { account: "PT50" },
    ],
  ])("%s: “%s”", (_what, said, properties, parameters) => {
    expect(fill(said, properties)).toEqual({ parameters, missing: [] });
  });

  it("guesses nothing for what is optional", () => {
    const parameters = {
      type: "object",
      properties: { city: text, days: whole, unit: { enum: ["C", "F"] } },
      required: ["city"],
    };
    expect(fill("Weather in Oslo, it was 3 yesterday", {}, { parameters })).toEqual({
      parameters: { city: "Oslo" },
      missing: [],
    });
    expect(fill("Weather in Oslo for 3 days", {}, { parameters }).parameters).toEqual({ city: "Oslo", days: 3 });
  });

  it("asks for nothing that the declaration itself provides", () => {
    const declared = { parameter_defaults: { shop: "lisbon" }, parameter_bindings: { user: "context.user" } };
    expect(fill("Do it", { shop: text, user: text }, declared)).toEqual({ parameters: {}, missing: [] });
  });

  it("follows references and leaves alternatives that are null", () => {
    const parameters = {
      type: "object",
      properties: { order: { $ref: "#/$defs/order" }, nights: { anyOf: [{ type: "null" }, whole] } },
      required: ["order", "nights"],
      $defs: { order: { type: "string", pattern: "^\\d+$" } },
    };
    expect(fill("order 7 for 3 nights", {}, { parameters }).parameters).toEqual({ order: "7", nights: 3 });
  });

  it("understands parameters that are written without a schema around them", () => {
    const parameters = { city: { type: "string", required: true }, unit: text };
    expect(fill("Weather in Oslo", {}, { parameters })).toEqual({ parameters: { city: "Oslo" }, missing: [] });
    expect(fill("Weather?", {}, { parameters }).missing).toEqual(["city"]);
  });

  it("does not loop on a schema that holds itself", () => {
    const node = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] };
    expect(fill("next", {}, { parameters: node })).toEqual({ parameters: {}, missing: ["next"] });
  });
});
