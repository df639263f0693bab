import { describe, expect, it } from "vitest";
import type { JsonMap } from "../../contracts/json.ts";
import { normalizeForConversationRequest, type ToolMap } from "../../contracts/tools/declaration.ts";
import { pickTool } from "./pick-tool.ts";

function declare(name: string, description: string, properties: JsonMap = {}): ToolMap {
  const parameters = { type: "object", properties, required: Object.keys(properties) };
  return { [name]: normalizeForConversationRequest({ name, source: name.split("/")[0], description, parameters }) };
}

const text = { type: "string" };
const refund = declare("shop/refund", "Refund an order.", { order: text, cents: { type: "integer" } });
const shop: ToolMap = {
  ...refund,
  ...declare("shop/cancel-order", "Cancels an order that was not sent yet.", { order: text }),
  ...declare("orders/get", "Tells where an order is.", { order: text }),
  ...declare("orders/list", "All orders of the customer."),
  ...declare("weather/now", "The temperature in a city.", { city: text }),
  ...declare("mail/send", "Sends an e-mail.", { to: { type: "string", format: "email" }, body: text }),
  ...declare("docs/search", "Searches the documentation.", { query: text }),
  ...declare("client/location", "Asks the browser where the customer is."),
};

describe("the tool that a text asks for", () => {
  it.each([
    ["Please refund order 7, 12 euros.", "shop/refund"],
    ["I want my money back for order 7: 12 euros", "shop/refund"],
    ["Could you reimburse 12 euros of order 7?", "shop/refund"],
    ["REFUNDING 12 EUROS, ORDER 7", "shop/refund"],
    ["Cancel order 7", "shop/cancel-order"],
    ["Order 7 should be cancelled", "shop/cancel-order"],
    ["Show me order 7", "orders/get"],
    ["List my orders", "orders/list"],
    ["What are my orders?", "orders/list"],
    ["How warm is it in Oslo?", "weather/now"],
    ["weather in oslo", "weather/now"],
    ["What is the temperature in Oslo now?", "weather/now"],
    ["Send a mail to ana@example.com saying hello", "mail/send"],
    ["Please e-mail ana@example.com about the invoice", "mail/send"],
    ["Search for durable threads", "docs/search"],
    ["Look up durable threads in the documentation", "docs/search"],
    ["What is my location?", "client/location"],
    ["Do not refund order 7, cancel order 7", "shop/cancel-order"],
  ])("“%s” → %s", (said, name) => {
    expect(pickTool(said, shop)?.tool.name).toBe(name);
  });

  it.each([
    "Hello!",
    "Who are you?",
    "Thanks, that is all.",
    "Tell me a joke",
    "Don't refund order 7!",
    "Never send a mail again",
    "",
  ])("is none for “%s”", (said) => {
    expect(pickTool(said, shop)).toBeUndefined();
  });

  it("is none when the text only speaks of what the tool works on", () => {
    expect(pickTool("Where is my order 7?", refund)).toBeUndefined();
    expect(pickTool("Which shop is the nearest?", refund)).toBeUndefined();
  });

  it("comes with what the text has for it, and with what it lacks", () => {
    expect(pickTool("Refund order 7", shop)).toMatchObject({ parameters: { order: "7" }, missing: ["cents"] });
  });

  it("is none where there are no tools", () => {
    expect(pickTool("Refund order 7", {})).toBeUndefined();
  });
});
