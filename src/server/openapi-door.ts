// The reference of the server, for machines and for people. It tells what there is, and nothing about anybody.
import type { Mount } from "./door.ts";
import { createOpenApi } from "./openapi.ts";
import { pagePolicy, referencePage } from "./reference-page.ts";
import { projectedOperations } from "./routes.ts";
import { version } from "./version.ts";

export const openApiDoor: Mount = (app, { holdfast }) => {
  // Made once, when somebody wants to know.
  let made: { readonly json: string; readonly page: string } | undefined;
  const reference = () => {
    if (made) return made;
    const description = createOpenApi(projectedOperations(holdfast), version);
    made = { json: JSON.stringify(description), page: referencePage(description) };
    return made;
  };

  // The first thing that somebody opens who was told where the server is. Relative: there may be a path before it.
  app.get("/", (context) => context.redirect("reference"));
  app.get("/openapi.json", (context) => context.body(reference().json, 200, { "Content-Type": "application/json" }));
  app.get("/reference", (context) =>
    context.body(reference().page, 200, {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": pagePolicy,
    }),
  );
};
