/** Other programs as a user describes them, to the API or on the page. */
import { fieldsOf, invalid, text } from "./fields.ts";
import { address, keyOf } from "./indexer-input.ts";

/** A Prowlarr or Jackett whose indexers are taken over. */
export function parseSource(value: unknown) {
  const { kind, ...rest } = fieldsOf("source", value, ["kind", "url", "apiKey"]);
  const program = oneOf("source.kind", kind, ["prowlarr", "jackett"] as const);
  return { kind: program, ...placeOf("source", rest) };
}

/** A Sonarr or Radarr that this service is made known to; `self` is where it reaches us. */
export function parseRegistration(value: unknown, ownAddress: string) {
  const known = ["program", "url", "apiKey", "self", "name"];
  const { program, self, name, ...rest } = fieldsOf("register", value, known);
  return {
    program: oneOf("register.program", program, ["sonarr", "radarr"] as const),
    ...placeOf("register", rest),
    self: self === undefined ? ownAddress : address("register.self", self).url,
    name: name === undefined ? "Sluice" : text("register.name", name, 100),
  };
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
