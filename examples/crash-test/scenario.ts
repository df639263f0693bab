// A customer is charged, by a tool that is written in three ways. The bank is the ledger: it counts what is done to it.
import { agent, type ToolDefinition, tool } from "holdfast";
import { callsTool, type LedgerClient, says, scenario, scriptedModel } from "holdfast/testing";

const shop = (charge: (bank: LedgerClient) => Omit<ToolDefinition, "name" | "description">) =>
  scenario({
    agents({ ledger }) {
      const tools = [tool({ name: "shop/charge", description: "Charges.", ...charge(ledger) })];
      return [agent({ slug: "shop", model: scriptedModel([callsTool("shop/charge"), says("Done.")]), tools })];
    },
    async run({ holdfast }) {
      const thread = await holdfast.threads.open("customer-42", { agent: "shop" });
      await thread.send("Charge me.", { key: "order-7" }); // the same key after a crash: the same message
    },
  });

export const silent = shop((bank) => ({ execute: () => bank.record({ name: "charge" }) })); // nobody can look it up

export const lying = shop((bank) => ({ idempotent: true, execute: () => bank.record({ name: "charge" }) })); // it is not

export const right = shop((bank) => ({
  execute: (_input, { idempotencyKey: key }) => bank.record({ name: "charge", key }),
  async reconcile({ idempotencyKey: key }) {
    return (await bank.count(key)) > 0 ? { status: "done", result: "charged" } : { status: "absent" };
  },
}));
