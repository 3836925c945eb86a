import { SluiceError } from "@sluice/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AppDone, AppPage } from "../app-page.ts";
import { allowsAll, forbidden } from "../keys/grant.ts";
import {
  ACTION_FIELDS_MAX,
  ACTION_VALUE_CHARS_MAX,
  APP_SHOW_CHARS_MAX,
  FORM_BODY_BYTES_MAX,
} from "../limits.ts";
import { route } from "./route.ts";
import { ANYTHING, answers, list, NAME, object, type Schema, TEXT } from "./shapes.ts";

const PAGE = object({ name: NAME, title: TEXT }, ["name", "title"]);

const VIEW: Schema = object(
  {
    name: NAME,
    title: TEXT,
    view: object({ sections: list({ type: "object" }), actions: list({ type: "object" }) }),
  },
  ["name", "title", "view"],
);

const VALUES: Schema = {
  type: "object",
  maxProperties: ACTION_FIELDS_MAX,
  additionalProperties: { type: "string", maxLength: ACTION_VALUE_CHARS_MAX },
};

const SHOWN: Schema = {
  type: "string",
  maxLength: APP_SHOW_CHARS_MAX,
  description: "What an action asked to show.",
};

interface View {
  Params: { name: string };
  Querystring: { show?: string };
}

interface Act {
  Params: { name: string; action: string };
  Body: { values?: object } | null;
}

type Values = { [name: string]: string };

/** Does something, with an entry in the audit log where there is one. */
type Recorded = <T>(
  request: FastifyRequest,
  told: readonly [action: string, on: string, detail: string],
  act: () => Promise<T>,
) => Promise<T>;

/** What apps show of themselves on the dashboard, for those who may see and do everything. */
export function appRoutes(
  app: FastifyInstance,
  pages: readonly AppPage[],
  record: Recorded = (_, __, act) => act(),
): void {
  const pageOf = (name: string): AppPage => {
    const page = pages.find((one) => one.name === name);
    if (page !== undefined) return page;
    throw new SluiceError("NOT_FOUND", `app ${name} has no page`, { field: "name" });
  };
  route(app, "GET /v1/apps", {
    about: ["listApps", "apps", "Apps that have a page"],
    response: answers(object({ items: list(PAGE) }, ["items"])),
    handler: async (request) => {
      enter(request);
      return { items: pages.map(({ name, title }) => ({ name, title })) };
    },
  });
  route<View>(app, "GET /v1/apps/:name", {
    about: ["viewApp", "apps", "An app's page as it is now"],
    querystring: object({ show: SHOWN }),
    response: answers(VIEW),
    handler: async (request) => {
      enter(request);
      const page = pageOf(request.params.name);
      return { name: page.name, title: page.title, view: await page.view(request.query.show) };
    },
  });
  route<Act>(app, "POST /v1/apps/:name/actions/:action", {
    about: ["actInApp", "apps", "Do something that an app's page offers"],
    bodyLimit: FORM_BODY_BYTES_MAX,
    body: { ...object({ values: VALUES }), type: ["object", "null"] },
    response: answers(object({ message: ANYTHING, show: TEXT }, ["message"])),
    handler: async (request) => {
      enter(request);
      const { name, action } = request.params;
      const values: Values = { ...request.body?.values };
      // Other values of a form may be secrets.
      const detail = JSON.stringify({ action, id: values.id });
      return record(request, ["actInApp", name, detail], async () =>
        act(pageOf(name), action, values),
      );
    },
  });
}

async function act(page: AppPage, action: string, values: Values): Promise<AppDone> {
  const { actions = [] } = await page.view();
  if (page.act !== undefined && actions.some(({ name }) => name === action)) {
    const done = await page.act(action, values);
    return typeof done === "string" ? { message: done } : done;
  }
  throw new SluiceError("NOT_FOUND", `${page.name} has no action ${action}`, { field: "action" });
}

function enter({ principal }: FastifyRequest): void {
  principal.charge();
  if (!allowsAll(principal.grants(), "admin")) throw forbidden("admin", "*");
}
