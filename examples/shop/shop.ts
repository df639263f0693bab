// A shop small enough to read: what was ordered, and what was refunded under which key.
import type { Reconciled } from "holdfast";

type Refund = { readonly order: string; readonly cents: number };

const orders = new Map([["7", 4_900]]); // what each one came to, in cents
const refunds = new Map<string, Refund>();

export const shop = {
  /** Refunds once for each key; asked again under it, the shop only says what it did. */
  refund(order: string, cents: number, { idempotencyKey }: { idempotencyKey: string }): Refund {
    const known = refunds.get(idempotencyKey);
    if (known) return known;
    const paid = orders.get(order);
    if (paid === undefined) throw new Error(`There is no order ${order}.`);
    const left = shop.ledger().reduce((sum, each) => (each.order === order ? sum - each.cents : sum), paid);
    if (cents > left) throw new Error(`Only ${left} cents of order ${order} can be refunded.`);
    const refund = { order, cents };
    refunds.set(idempotencyKey, refund);
    return refund;
  },

  /** What the shop knows of a refund that nobody saw the end of. */
  findRefund(idempotencyKey: string): Reconciled {
    const refund = refunds.get(idempotencyKey);
    return refund ? { status: "done", result: refund } : { status: "absent" };
  },

  ledger: (): readonly Refund[] => [...refunds.values()],
};
