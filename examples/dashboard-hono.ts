// The dashboard of an embedded Sluice at /ops of a Hono server, behind its own login.
// `ann` may do everything, `guest` may only look. The password of both is "secret".

import { serve } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { basicAuth } from "hono/basic-auth";
import { Sluice } from "sluice";
import { dashboard } from "sluice/dashboard";

const sluice = await Sluice.open({ durability: "memory" });
await sluice.queue("mail");

const page = dashboard(sluice, {
  basePath: "/ops",
  user: (c: Context) => c.get("user"),
  role: (name) => (name === "ann" ? "full" : "read-only"),
});

const app = new Hono();
const login = basicAuth({
  verifyUser: (name, password, c: Context) => {
    c.set("user", name);
    return password === "secret";
  },
});
app.use("/ops/*", login);
app.all("/ops/*", (c) => page.fetch(c.req.raw, c));
app.get("/", (c) => c.text("the shop"));

const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, () =>
  console.log(`http://127.0.0.1:${port}/ops`),
);
process.once("SIGTERM", async () => {
  await page.close();
  server.close();
  await sluice.close();
});
