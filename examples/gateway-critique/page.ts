// The page that the agent reads: a small server on this machine.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const html = `<!doctype html>
<html lang="en">
  <head><title>The Harbour Tea House</title></head>
  <body>
    <h1>The Harbour Tea House</h1>
    <p>We pour tea in a room above the boat sheds. The kettle is on every day.</p>
    <p>Because we believe that tea should never be hurried, every guest who comes up the stairs is given a pot,
      a timer and a chair by the window, and is asked to wait until the tea itself says that it is ready.</p>
    <h2>Our tea</h2>
    <p>There is black tea, green tea and white tea. Ask for the list.</p>
  </body>
</html>`;

export async function servePage(): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8").end(html);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}
