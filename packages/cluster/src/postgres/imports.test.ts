import { registerHooks } from "node:module";
import { test } from "node:test";

test("a cluster and a log in PostgreSQL load nothing of NATS", async () => {
  // Who has only `pg` installed would get an error of a package that is missing.
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (!specifier.startsWith("@nats-io/")) return next(specifier, context);
      throw new Error(`${context.parentURL} imports ${specifier}`);
    },
  });
  await import("./index.ts");
  await import("@sluice/log/postgres");
  hooks.deregister();
});
