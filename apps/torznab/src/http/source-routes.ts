/** Programs whose indexers are taken over, and programs that this service is made known to. */
import type { HttpApp } from "sluice/http";
import { register } from "../service/register.ts";
import type { TorznabService } from "../service/service.ts";
import type { Sources } from "../service/sources.ts";
import { fieldsOf, invalid, text } from "../settings/fields.ts";
import { address, keyOf } from "../settings/indexer-input.ts";
import { described, SOURCE_SCHEMAS } from "./source-schemas.ts";
import { originOf } from "./torznab-routes.ts";

interface WithId {
  Params: { id: string };
}

export function sourceRoutes(app: HttpApp, service: TorznabService, sources: Sources): void {
  app.get("/sources", described(SOURCE_SCHEMAS.listSources), () => ({ sources: sources.list }));
  app.post("/sources", described(SOURCE_SCHEMAS.addSource), async ({ body }, reply) => {
    const { kind, ...rest } = fieldsOf("source", body, ["kind", "url", "apiKey"]);
    const program = oneOf("source.kind", kind, ["prowlarr", "jackett"] as const);
    const { isNew, ...added } = await sources.add({ kind: program, ...placeOf("source", rest) });
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
    const known = ["program", "url", "apiKey", "self", "name"];
    const { program, self, name, ...rest } = fieldsOf("register", request.body, known);
    const registered = await register(service, {
      program: oneOf("register.program", program, ["sonarr", "radarr"] as const),
      ...placeOf("register", rest),
      self: self === undefined ? originOf(request, service) : address("register.self", self).url,
      name: name === undefined ? "Sluice" : text("register.name", name, 100),
    });
    return { registered };
  });
}

function placeOf(field: string, fields: Readonly<Record<string, unknown>>) {
  const { url, apiKey } = address(`${field}.url`, fields.url);
  const key = fields.apiKey === undefined ? apiKey : keyOf(`${field}.apiKey`, fields.apiKey);
  return { url: url.replace(/\/$/, ""), apiKey: key };
}

function oneOf<Choice extends string>(
  field: string,
  value: unknown,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw invalid(field, choices.join(" or "), value);
  return found;
}
