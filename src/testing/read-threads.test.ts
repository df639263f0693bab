// The threads of a case are read with what is wrong with them.
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { createHoldfast } from "../holdfast.ts";
import { says } from "../models/scripted/scripted-model.ts";
import { agent } from "../threads/agent.ts";
import { backendOf, newDatabase, SECRET_KEY } from "./case-database.ts";
import { readThreads } from "./read-threads.ts";

it("tells when the audit does not hold, though each thread does", async () => {
  const { database, remove } = await newDatabase();
  onTestFinished(remove);
  const holdfast = await createHoldfast({
    ...{ backend: await backendOf(database), secretKey: SECRET_KEY },
    agents: [agent({ slug: "greeter", model: () => says("Hello.") })],
  });
  const thread = await holdfast.threads.open("t", { agent: "greeter" });
  await thread.send("Hi.");
  await holdfast.audit.checkpoint();
  await holdfast.close();
  expect(await readThreads(database)).toMatchObject([{ key: "t", said: ["Hi."], problems: [] }]);

  const file = new DatabaseSync(database.kind === "sqlite" ? database.path : "");
  file.exec("update audit_checkpoints set statement = replace(statement, 'number', 'numbers')");
  file.close();
  const [read] = await readThreads(database);
  expect(read?.problems).toMatchObject([expect.stringContaining("the audit does not hold")]);
});
