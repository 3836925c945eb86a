// The dashboard of an embedded Sluice at /ops of a Fastify server, behind its own login.
// `ann` may do everything, `guest` may only look. The password of both is "secret".

import { type FastifyRequest, fastify } from "fastify";
import { Sluice } from "sluice";
import { dashboard } from "sluice/dashboard";

const sluice = await Sluice.open({ durability: "memory" });
await sluice.queue("mail");

function user({ headers }: FastifyRequest): string | undefined {
  const [, login = ""] = (headers.authorization ?? "").split("Basic ");
  const [name, password] = Buffer.from(login, "base64").toString().split(":");
  return password === "secret" ? name : undefined;
}

const page = dashboard(sluice, {
  basePath: "/ops",
  user,
  role: (name) => (name === "ann" ? "full" : "read-only"),
});

const app = fastify();
app.get("/", () => "the shop");
app.register(async (ops) => {
  ops.addHook("onRequest", async (request, reply) => {
    if (user(request) !== undefined) return;
    return reply.code(401).header("www-authenticate", "Basic").send();
  });
  ops.register(page.fastify);
});
app.addHook("onClose", async () => {
  await page.close();
  await sluice.close();
});

const port = Number(process.env.PORT ?? 3000);
await app.listen({ port, host: "127.0.0.1" });
console.log(`http://127.0.0.1:${port}/ops`);
process.once("SIGTERM", () => app.close());
