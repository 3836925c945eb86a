import { type FastifyInstance, fastify, type RouteOptions } from "fastify";
import { route } from "./routes/route.ts";

export interface ApiInfo {
  title: string;
  description: string;
}

type Described = Pick<RouteOptions, "method" | "url" | "schema">;

/** Must come before the routes: it hears of each as it is made. */
export function describe(app: FastifyInstance, info: ApiInfo): void {
  const routes: Described[] = [];
  app.addHook("onRoute", ({ method, url, schema }) => {
    routes.push(schema === undefined ? { method, url } : { method, url, schema });
  });
  // Of half a megabyte: the routes do not change, and anyone may ask for it.
  let text: Promise<Buffer> | undefined;
  route(app, "GET /openapi.json", {
    about: ["getOpenapi", "health", "This description"],
    response: { 200: { type: "object", description: "An OpenAPI 3.1 document." } },
    config: { isPublic: true },
    handler: async (_, reply) => {
      text ??= documentOf(routes, info).catch((error: unknown) => {
        // The next request tries again.
        text = undefined;
        throw error;
      });
      return reply.type("application/json; charset=utf-8").send(await text);
    },
  });
}

/**
 * The document of routes, made by a server of its own that never listens: what makes it is loaded
 * by the first request for it and not by every start, of which it would be 12 ms.
 */
async function documentOf(routes: readonly Described[], info: ApiInfo): Promise<Buffer> {
  const { default: swagger } = await import("@fastify/swagger");
  const app = fastify({ exposeHeadRoutes: false });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { ...info, version: "1" },
      components: {
        securitySchemes: { key: { type: "http", scheme: "bearer", description: "An API key." } },
      },
      security: [{ key: [] }, {}],
    },
  });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => String);
  for (const each of routes) app.route({ ...each, handler: () => {} });
  await app.ready();
  const text = Buffer.from(JSON.stringify(app.swagger()));
  await app.close();
  return text;
}
