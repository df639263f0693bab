import { expect, it } from "vitest";
import { type Ability, createAbilities } from "./ability.ts";

const execute = () => "done";

const options = { dispatch: async () => undefined };

it("lists abilities in the order they were added, and finds them by name", () => {
  const abilities = createAbilities([{ name: "shop/refund", execute }]);
  abilities.register({ name: "shop/find", execute });
  expect(abilities.list().map(({ name }) => name)).toEqual(["shop/refund", "shop/find"]);
  expect(abilities.get("shop/find")?.execute({}, {}, options)).toBe("done");
  expect(abilities.get("constructor")).toBeUndefined();
});

it("gives a name free again, but only once and only its own", () => {
  const abilities = createAbilities();
  const remove = abilities.register({ name: "shop/find", execute });
  remove();
  abilities.register({ name: "shop/find", execute });
  remove();
  expect(abilities.get("shop/find")).toBeDefined();
});

it.each([
  ["nothing", null, "ability must be a map"],
  ["no name", { execute }, "name must"],
  ["a blank name", { name: " ", execute }, "name must"],
  ["a padded name", { name: " shop/find", execute }, "name must"],
  ["nothing to execute", { name: "shop/find" }, "execute of"],
  ["a permission that cannot be asked", { name: "shop/find", execute, permission: true }, "permission of"],
  ["a name that is taken", { name: "shop/refund", execute }, 'name "shop/refund" is taken'],
])("refuses %s", (_, ability, detail) => {
  const abilities = createAbilities([{ name: "shop/refund", execute }]);
  expect(() => abilities.register(ability as unknown as Ability)).toThrow(`invalid_ability: ${detail}`);
});

it("keeps an ability as it was when it was registered", () => {
  const sensitive_parameters = ["iban"];
  const given = { name: "shop/refund", meta: { sensitive_parameters }, execute };
  const abilities = createAbilities([given]);
  sensitive_parameters.pop();
  given.execute = () => "something else";
  expect(abilities.get("shop/refund")?.meta).toEqual({ sensitive_parameters: ["iban"] });
  expect(abilities.get("shop/refund")?.execute({}, {}, options)).toBe("done");
  expect(Object.isFrozen(abilities.get("shop/refund"))).toBe(true);
});

it("asks a permission that an object brings as a method", () => {
  class Refund {
    readonly name = "shop/refund";
    readonly #open = false;
    permission() {
      return this.#open;
    }
    execute() {
      return this.#open;
    }
  }
  const refund = createAbilities([new Refund()]).get("shop/refund");
  expect(refund?.permission?.({}, {})).toBe(false);
  expect(refund?.execute({}, {}, options)).toBe(false);
});
