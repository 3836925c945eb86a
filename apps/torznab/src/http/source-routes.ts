/** Programs whose indexers are taken over, and programs that this service is made known to. */
import type { HttpApp } from "sluice/http";
import { register } from "../service/register.ts";
import type { TorznabService } from "../service/service.ts";
import type { Sources } from "../service/sources.ts";
import { parseRegistration, parseSource } from "../settings/program-input.ts";
import { described, SOURCE_SCHEMAS } from "./source-schemas.ts";
import { originOf } from "./torznab-routes.ts";

interface WithId {
  Params: { id: string };
}

export function sourceRoutes(app: HttpApp, service: TorznabService, sources: Sources): void {
  app.get("/sources", described(SOURCE_SCHEMAS.listSources), () => ({ sources: sources.list }));
  app.post("/sources", described(SOURCE_SCHEMAS.addSource), async ({ body }, reply) => {
    const { isNew, ...added } = await sources.add(parseSource(body));
    return reply.code(isNew ? 201 : 200).send(added);
  });
  app.post<WithId>("/sources/:id/sync", described(SOURCE_SCHEMAS.syncSource), ({ params }) =>
    sources.sync(params.id),
  );
  app.delete<WithId>(
    "/sources/:id",
    described(SOURCE_SCHEMAS.removeSource),
    async ({ params }, reply) => {
      await sources.remove(params.id);
      return reply.code(204).send();
    },
  );
  app.post("/register", described(SOURCE_SCHEMAS.register), async (request) => {
    const asked = parseRegistration(request.body, originOf(request, service));
    const registered = await register(service, asked);
    return { registered };
  });
}
