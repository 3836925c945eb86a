/** Other programs on the page: those whose indexers are taken over, and those that ask here. */
import type { AppAction, AppField, AppSection } from "sluice/http";
import { register } from "../service/register.ts";
import type { TorznabService } from "../service/service.ts";
import { parseRegistration, parseSource } from "../settings/program-input.ts";
import { given } from "./indexer-forms.ts";

type Values = Readonly<Record<string, string>>;

const SOURCE_FIELDS: AppField[] = [
  {
    name: "kind",
    label: "Program",
    value: "prowlarr",
    options: [
      { value: "prowlarr", label: "Prowlarr" },
      { value: "jackett", label: "Jackett" },
    ],
  },
  { name: "url", label: "Address", hint: "Such as http://localhost:9696." },
  { name: "apiKey", label: "Key", hint: "If the program is known already, its key is changed." },
];

/** `self` is a guess: only the user knows under which address another program reaches us. */
function registerFields({ parts: { settings } }: TorznabService): AppField[] {
  const { host, port, publicUrl } = settings;
  return [
    {
      name: "program",
      label: "Program",
      value: "sonarr",
      options: [
        { value: "sonarr", label: "Sonarr" },
        { value: "radarr", label: "Radarr" },
      ],
    },
    { name: "url", label: "Address", hint: "Such as http://localhost:8989." },
    { name: "apiKey", label: "Key" },
    {
      name: "self",
      label: "Address of this service",
      value: publicUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
      hint: "As the program reaches it.",
    },
    { name: "name", label: "Name", hint: "Of the indexer there. Empty: Sluice." },
  ];
}

export function programActions(service: TorznabService): AppAction[] {
  const fields = registerFields(service);
  return [
    {
      name: "source",
      title: "Import from Prowlarr or Jackett",
      verb: "Import",
      fields: SOURCE_FIELDS,
    },
    { name: "register", title: "Register in Sonarr or Radarr", verb: "Register", fields },
    { name: "sync", title: "Sync", verb: "Sync", isInPlace: true },
    {
      name: "removeSource",
      title: "Remove the source",
      verb: "Remove",
      confirm: "Its indexers are removed as well, with what was used of their limits.",
      isInPlace: true,
    },
  ];
}

export function sourceSection({ sources }: TorznabService): AppSection[] {
  const { list } = sources;
  if (list.length === 0) return [];
  return [
    {
      kind: "table",
      title: "Sources",
      columns: ["Source", "Address", "Indexers", "Last read", "Error"],
      rows: list.map(({ id, url, indexers, syncedAt, error = "" }) => {
        return [
          id,
          url,
          indexers.length,
          syncedAt === undefined ? "never" : { at: syncedAt },
          error,
        ];
      }),
      rowActions: list.map(({ id }) => [
        { action: "sync", label: "Sync", values: { source: id, title: id } },
        { action: "removeSource", label: "Remove", values: { source: id, title: id } },
      ]),
    },
  ];
}

export const PROGRAM_ACTS: Readonly<
  Record<string, (service: TorznabService, values: Values) => Promise<string>>
> = {
  source: async ({ sources }, values) => {
    const { id, added, removed, isNew } = await sources.add(parseSource(given(values)));
    const known = isNew ? `${id} is added` : `${id} has the new key`;
    return `${known}, ${changes(added.length, removed.length)}`;
  },
  sync: async ({ sources }, { source = "" }) => {
    const { added, removed } = await sources.sync(source);
    return `${source} was read, ${changes(added.length, removed.length)}`;
  },
  removeSource: async ({ sources }, { source = "" }) => {
    await sources.remove(source);
    return `${source} is removed, with its indexers`;
  },
  register: async (service, values) => {
    const { self = "" } = values;
    const asked = parseRegistration({ ...given(values), self }, self);
    const registered = await register(service, asked);
    const told = registered.map(({ name, isNew }) => `${name} is ${isNew ? "added" : "changed"}`);
    return `${asked.program}: ${told.join(", ")}`;
  },
};

function changes(added: number, removed: number): string {
  return `indexers: ${added} added, ${removed} removed`;
}
