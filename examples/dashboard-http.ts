// The dashboard of an embedded Sluice at /ops of a server of node:http, behind its own login.
// `ann` may do everything, `guest` may only look. The password of both is "secret".

import { createServer, type IncomingMessage } from "node:http";
import { Sluice } from "sluice";
import { dashboard } from "sluice/dashboard";

const sluice = await Sluice.open({ durability: "memory" });
await sluice.queue("mail");

function user({ headers }: IncomingMessage): string | undefined {
  const [, login = ""] = (headers.authorization ?? "").split("Basic ");
  const [name, password] = Buffer.from(login, "base64").toString().split(":");
  return password === "secret" ? name : undefined;
}

const page = dashboard(sluice, {
  basePath: "/ops",
  user,
  role: (name) => (name === "ann" ? "full" : "read-only"),
});

const server = createServer((request, response) => {
  if (!request.url?.startsWith("/ops")) return response.end("the shop");
  if (user(request) !== undefined) return page(request, response);
  response.writeHead(401, { "www-authenticate": "Basic" }).end();
});

const port = Number(process.env.PORT ?? 3000);
server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/ops`));
process.once("SIGTERM", async () => {
  await page.close();
  server.close();
  await sluice.close();
});
