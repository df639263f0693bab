import { join } from "node:path";
import { expect, it } from "vitest";
import { pluginRoot, writePlugin, writeScript } from "../../../test/plugin-folders.ts";
import { checkGateway } from "./check-gateway.ts";

it("names every file that makes the gateway what it is, also those that are not there yet", async () => {
  const cwd = pluginRoot();
  writeScript(join(cwd, "gateway.yaml"), "include: [parts, gone.yaml]\nplugin_roots: [own, none]\n");
  writeScript(join(cwd, "parts", "one.yaml"), "{}");
  writePlugin(join(cwd, "own"), "good");
  writeScript(join(cwd, "own", "empty", "notes.txt"), "");
  const of = async () => (await checkGateway("gateway.yaml", { cwd })).files.map((file) => file.slice(cwd.length + 1));
  const configuration = ["gateway.yaml", "parts", "parts/one.yaml", "gone.yaml"];
  expect(await of()).toEqual(configuration);
  writeScript(join(cwd, "gone.yaml"), "{}");
  const plugin = (folder: string) => [`${folder}/manifest.yaml`, `${folder}/manifest.yml`];
  expect((await of()).toSorted()).toEqual(
    [
      ...configuration,
      ...["own", "own/good", "own/empty", "none"].flatMap(plugin),
      ...["own", "own/good/run", "own/empty", "none"],
    ].toSorted(),
  );
});
