// Promise: whoever has a token of the same agent learns nothing about what is another's, through any operation and at any
// door: not what it is, and not that it is there.
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Operation } from "../src/abilities/operation.ts";
import { createApp } from "../src/server/app.ts";
import { projectedOperations } from "../src/server/routes.ts";
import { namesIn, withoutNames } from "./doors/alike.ts";
import { askOperation, fieldsOf, type Way, waysTo } from "./doors/ask-operation.ts";
import { inputFor, namingFields } from "./doors/fields.ts";
import { type Named, namedAtDoors, nothing } from "./doors/named-at-doors.ts";
import { type Belongings, belongingsOf, privateTo, type Tenants, twoTenants } from "./doors/two-tenants.ts";

let tenants: Tenants;
let hers: Belongings;
let his: Belongings;
let operations: readonly Operation[];
beforeEach(async () => {
  tenants = await twoTenants();
  hers = await belongingsOf(tenants.served, tenants.alice);
  his = await belongingsOf(tenants.served, tenants.bob);
  operations = projectedOperations(tenants.served.holdfast);
});
afterEach(() => tenants.served.close());

/** Where what is another's is answered with something else than 403 or 404, and why that tells nothing. */
const answeredOtherwise: Readonly<Record<string, string>> = {
  "agents/chat": "a run id is looked for among the caller's own runs, and begins a new one",
  "agents/get-pending-action": "what is not there is null",
  "agents/list-runtime-tool-requests": "an empty list, or the caller's own",
  "agents/submit-runtime-tool-result": "the contract has a code of its own for what is not there",
  "agents/timeout-runtime-tool-request": "the contract has a code of its own for what is not there",
  "agents/cancel-runtime-tool-request": "the contract has a code of its own for what is not there",
  "holdfast/list-threads": "an empty list",
  "holdfast/list-workflow-runs": "an empty list",
  "holdfast/list-requests": "an empty list",
  "holdfast/list-approvals": "an empty list",
  "holdfast/list-remembered-approvals": "an empty list",
  "holdfast/list-bridge-messages": "an empty list",
  "holdfast/list-grants": "an empty list",
  "holdfast/forget-remembered-approval": "false",
  "holdfast/cancel-queued": "false",
  "holdfast/revoke-access": "false",
  "holdfast/acknowledge-bridge-messages": "none",
  "holdfast/put-memory": "a name is one of the caller's own memories",
  "holdfast/delete-memory": "a name is one of the caller's own memories",
  "holdfast/write-file": "a path is one of the caller's own thread",
  "holdfast/delete-file": "a path is one of the caller's own thread",
};

/** Everybody knows who else there is: what is refused here is to change what somebody was given. */
const openlyDifferent: readonly string[] = ["holdfast/grant-access"];

type Whose = Belongings | "nothing";

/** What Bob is answered when one field names `named`, and the others that there have to be name `others`. */
async function asked(operation: Operation, way: Way, field: string, named: Whose, others: Whose): Promise<string> {
  const { served, bob } = tenants;
  const { required } = fieldsOf(operation);
  const whose = (each: string) => (each === field ? named : required.includes(each) ? others : undefined);
  const input = inputFor(operation, whose);
  const answer = await askOperation(served, bob.token, operation, input, way);
  const given = namingFields(operation).flatMap((each) => namesIn(input[each]));
  return withoutNames(answer, given);
}

/** A query has no way to say what is no text. */
function isSaid(operation: Operation, way: Way, field: string): boolean {
  const isQuery = way === "route" && ["get", "delete"].includes(operation.route?.method ?? "");
  return !(isQuery && field === "session_owner");
}

/** What Alice sees of everything that she has. */
async function seenByAlice(): Promise<Readonly<Record<string, string>>> {
  const { served, alice } = tenants;
  const seen: Record<string, string> = {};
  for (const operation of operations.filter(({ effect }) => effect === "read")) {
    const { required } = fieldsOf(operation);
    const input = inputFor(operation, (field) => (required.includes(field) ? hers : undefined));
    seen[operation.name] = withoutNames(await askOperation(served, alice.token, operation, input), []);
  }
  return seen;
}

it("lists what is one's own, and nothing else", async () => {
  const { served, alice, bob } = tenants;
  const lists = operations.filter(
    (operation) => operation.effect === "read" && namingFields(operation).every((field) => !isNeeded(operation, field)),
  );
  const found: Record<string, readonly string[]> = {};
  const things = { alice: namesIn(hers), bob: namesIn(his) };
  for (const operation of lists) {
    const owners: string[] = [];
    for (const { name, token } of [alice, bob]) {
      const { text } = await askOperation(
        served,
        token,
        operation,
        inputFor(operation, () => undefined),
      );
      const isTold = ([owner, ids]: [string, readonly string[]]) =>
        text.includes(privateTo(owner)) || ids.some((id) => isIn(id, text));
      const seen = Object.entries(things).flatMap((each) => (isTold(each) ? [each[0]] : []));
      owners.push(`${name} sees what is of ${seen.join(" and ") || "nobody"}`);
    }
    found[operation.name] = owners;
  }
  const own = ["alice sees what is of alice", "bob sees what is of bob"];
  const nobodys = ["alice sees what is of nobody", "bob sees what is of nobody"];
  const listing = [
    ...["agents/list-conversation-sessions", "agents/list-pending-actions", "agents/list-runtime-tool-requests"],
    ...["holdfast/list-threads", "holdfast/list-requests", "holdfast/list-approvals", "holdfast/list-memories"],
    ...["holdfast/list-guidelines", "holdfast/list-remembered-approvals", "holdfast/list-tokens"],
    ...["holdfast/list-bridge-messages", "holdfast/list-grants", "holdfast/list-workflow-runs"],
  ];
  for (const [name, owners] of Object.entries(found)) {
    expect(owners, name).toEqual(listing.includes(name) ? own : nobodys);
  }
  expect(listing.filter((name) => !(name in found))).toEqual([]);
});

it("is answered about what is another's as about what is not there, and changes nothing of it", async () => {
  const before = await seenByAlice();
  const different: Record<string, readonly string[]> = {};
  const told: string[] = [];
  const odd: string[] = [];
  for (const operation of operations) {
    for (const field of namingFields(operation)) {
      for (const way of waysTo(operation).filter((each) => isSaid(operation, each, field))) {
        for (const others of ["same", "his"]) {
          const ofHers = await asked(operation, way, field, hers, others === "same" ? hers : his);
          const ofNothing = await asked(operation, way, field, "nothing", others === "same" ? "nothing" : his);
          const place = `${operation.name} ${field} by ${way}, the rest ${others}`;
          const isOpen = openlyDifferent.includes(operation.name);
          if (ofHers !== ofNothing && !isOpen) different[place] = [ofHers, ofNothing];
          if (ofHers.includes(privateTo("alice"))) told.push(place);
          // What goes on with the caller's own thing may take no notice of what the field says.
          const isFree = isOpen || others === "his" || operation.name in answeredOtherwise;
          if (!(isFree ? /^[234]/ : /^40[34] /).test(ofHers)) odd.push(`${place}: ${ofHers}`);
        }
      }
    }
  }
  expect(different).toEqual({});
  expect(told).toEqual([]);
  expect(odd).toEqual([]);
  expect(await seenByAlice()).toEqual(before);
});

it("is told at no door that something of another's is there", async () => {
  const { served, bob } = tenants;
  const different: Record<string, readonly string[]> = {};
  const told: string[] = [];
  for (const [door, asks] of Object.entries(namedAtDoors)) {
    for (const [index, ask] of (asks ?? []).entries()) {
      const ofNothing = withoutNames(await ask(served, bob.token, nothing), namesIn(nothing));
      const ofHers = withoutNames(await ask(served, bob.token, hers), namesIn(pick(hers)));
      if (ofHers !== ofNothing) different[`${door} ${index}`] = [ofHers, ofNothing];
      if (ofHers.includes(privateTo("alice"))) told.push(door);
    }
  }
  expect(different).toEqual({});
  expect(told).toEqual([]);
});

it("knows of every door that there is", () => {
  const { holdfast } = tenants.served;
  const atRoutes = new Set(
    operations.flatMap(({ route }) =>
      route ? [`${route.method.toUpperCase()} ${route.path.replaceAll(/\{(\w+)\}/g, ":$1")}`] : [],
    ),
  );
  const doors = createApp(holdfast).routes.map(({ method, path }) => `${method} ${path.replace("{.+}", "")}`);
  const guards = ["ALL /*", "ALL /v1/*"];
  const others = new Set(doors.filter((door) => !atRoutes.has(door) && !guards.includes(door)));
  expect([...others].sort()).toEqual(Object.keys(namedAtDoors).sort());
});

/** What doors can be asked about. */
function pick(theirs: Belongings): Named {
  return Object.fromEntries(Object.keys(nothing).map((name) => [name, theirs[name as keyof Named]])) as Named;
}

function isNeeded(operation: Operation, field: string): boolean {
  return fieldsOf(operation).required.includes(field);
}

/** Numbers and short words stand in many places; what is long is somebody's. */
function isIn(id: string, text: string): boolean {
  return id.length > 8 && text.includes(id);
}
