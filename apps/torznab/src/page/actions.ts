/** What the page's buttons do. Each returns a sentence that says what was done. */
import { SluiceError } from "sluice";
import type { TorznabService } from "../service/service.ts";
import { tryOut } from "../service/try-out.ts";
import { hostName, parseHostLimits } from "../settings/host-input.ts";
import { parseChange, parseIndexer } from "../settings/indexer-input.ts";
import { changeOf, hostLimitsOf, indexerOf } from "./indexer-forms.ts";
import { PROGRAM_ACTS } from "./programs.ts";

type Values = Readonly<Record<string, string>>;
type Act = (service: TorznabService, id: string, values: Values) => Promise<string>;

const ACTS: Readonly<Record<string, Act>> = {
  add: async (service, _id, values) => {
    const { id } = await service.parts.indexers.add(parseIndexer("indexer", indexerOf(values)));
    const tried = await tryOut(service, id);
    return tried.ok ? `${id} is added and answers` : `${id} is added: ${tried.error}`;
  },
  edit: async (service, id, values) => {
    refuseOfSettings(service, id);
    await service.change(id, parseChange("indexer", changeOf(values)));
    return `${id} is saved`;
  },
  remove: async (service, id) => {
    refuseOfSettings(service, id);
    await service.remove(id);
    return `${id} is removed`;
  },
  test: async (service, id) => {
    const tried = await tryOut(service, id);
    if (!tried.ok) return `${id} does not answer: ${tried.error}`;
    return `${id} answers as ${tried.title || "an indexer without a title"}`;
  },
  pause: async ({ parts: { indexers } }, id) => {
    await indexers.change(id, { enabled: false });
    return `${id} is paused`;
  },
  resume: async ({ parts: { indexers } }, id) => {
    await indexers.change(id, { enabled: true });
    return `${id} is resumed`;
  },
  reset: async (service, id) => {
    await service.reset(id);
    return `the cooldown of ${id} is over`;
  },
  host: async ({ parts: { hosts } }, _id, { host: typed = "", ...values }) => {
    const host = hostName("host", typed);
    await hosts.set({ host, limits: parseHostLimits("limits", hostLimitsOf(values)) });
    return `the limits of ${host} are saved`;
  },
  removeHost: async ({ parts: { hosts } }, _id, { host = "" }) => {
    await hosts.remove(host);
    return `the limits of ${host} are removed`;
  },
};

export async function act(
  service: TorznabService,
  action: string,
  { indexer = "", title: _, ...values }: Values,
): Promise<string> {
  if (Object.hasOwn(PROGRAM_ACTS, action)) return PROGRAM_ACTS[action]!(service, values);
  const run = ACTS[action];
  if (run === undefined) throw new Error(`there is no action ${action.slice(0, 40)}`);
  return run(service, indexer, values);
}

function refuseOfSettings({ parts: { indexers } }: TorznabService, id: string): void {
  if (indexers.get(id).source !== "settings") return;
  const message = `${id} is defined in the settings file; change it there`;
  throw new SluiceError("CONFLICT", message, { field: "indexer", value: id });
}
