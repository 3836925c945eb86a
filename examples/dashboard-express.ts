// The dashboard of an embedded Sluice at /ops of an Express server, behind its own login.
// `ann` may do everything, `guest` may only look. The password of both is "secret".

import express, { type Request } from "express";
import { Sluice } from "sluice";
import { dashboard } from "sluice/dashboard";

const sluice = await Sluice.open({ durability: "memory" });
await sluice.queue("mail");

const page = dashboard(sluice, {
  basePath: "/ops",
  user: (request: Request) => request.res?.locals.user,
  role: (name) => (name === "ann" ? "full" : "read-only"),
});

const app = express();
app.use(express.json());
app.use("/ops", (request, response, next) => {
  const [, login = ""] = (request.headers.authorization ?? "").split("Basic ");
  const [name, password] = Buffer.from(login, "base64").toString().split(":");
  response.locals.user = name;
  if (password === "secret") next();
  else response.set("www-authenticate", "Basic").sendStatus(401);
});
app.use("/ops", page);
app.get("/", (_, response) => response.send("the shop"));

const port = Number(process.env.PORT ?? 3000);
const server = app.listen(port, "127.0.0.1", (error) => {
  if (error !== undefined) throw error;
  console.log(`http://127.0.0.1:${port}/ops`);
});
process.once("SIGTERM", async () => {
  await page.close();
  server.close();
  await sluice.close();
});
