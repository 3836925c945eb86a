import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { route } from "./routes/route.ts";

export interface ApiInfo {
  title: string;
  description: string;
}

/** Must come before the routes: it hears of each as it is made. */
export async function describe(
  app: FastifyInstance,
  { title, description }: ApiInfo,
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title, description, version: "1" },
      components: {
        securitySchemes: { key: { type: "http", scheme: "bearer", description: "An API key." } },
      },
      security: [{ key: [] }, {}],
    },
  });
  // Of half a megabyte: the routes do not change, and anyone may ask for it.
  let text: Buffer | undefined;
  route(app, "GET /openapi.json", {
    about: ["getOpenapi", "health", "This description"],
    response: { 200: { type: "object", description: "An OpenAPI 3.1 document." } },
    config: { isPublic: true },
    handler: async (_, reply) => {
      text ??= Buffer.from(JSON.stringify(app.swagger()));
      return reply.type("application/json; charset=utf-8").send(text);
    },
  });
}
