import { type Call, type Command, Misuse, tell, textOf, textsOf, wordsOf } from "../command.ts";
import { printable, table, time } from "../show.ts";
import { http, TARGET, TARGET_USAGE } from "../target.ts";

interface Grant {
  readonly action: string;
  readonly on: string;
  readonly gates?: readonly string[];
}

interface KeyInfo {
  readonly id: string;
  readonly name?: string;
  readonly grants: readonly Grant[];
  readonly expiresAt?: number;
  readonly createdAt: number;
}

const VERBS = ["list", "create", "set", "revoke"];

export const keysCommand: Command = {
  name: "keys",
  verbs: VERBS,
  usage: `sluice keys [list]
sluice keys create --role ROLE | --grant ACTION:QUEUE ...   printed this once
sluice keys set ID --role ROLE | --grant ACTION:QUEUE ...   its secret stays
sluice keys revoke ID                  its next request is refused

  --role ROLE[:QUEUE]    viewer (reads), operator (acts on jobs, pauses) or admin (does all)
  --grant ACTION:QUEUE   view, produce, consume, operate or admin; a queue, a prefix* or * (repeat)
  --grant ACTION:QUEUE/GATE,...   jobs may name only these gates, and the key may cool them
  --name TEXT            a name to recognise it by
  --expires DATE         2027-01-31, or with a time: 2027-01-31T12:00:00Z
${TARGET_USAGE}`,
  options: {
    ...TARGET,
    role: { type: "string" },
    grant: { type: "string", multiple: true },
    name: { type: "string" },
    expires: { type: "string" },
  },
  run: async (call) => {
    const [verb = "list", ...rest] = call.words;
    if (verb === "list") return list(call);
    if (verb === "create") return create(call);
    if (verb === "set") return set(call, wordsOf(rest, "ID")[0]);
    if (verb !== "revoke") throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
    const [id] = wordsOf(rest, "ID");
    await http(call, `DELETE /v1/keys/${encodeURIComponent(id)}`);
    return tell(call, { revoked: id }, () => `${id} is revoked`);
  },
};

async function list(call: Call): Promise<number> {
  const { items: keys } = await http<{ items: readonly KeyInfo[] }>(call, "GET /v1/keys");
  const rows = keys.map(({ id, name, grants, createdAt, expiresAt }) => [
    id,
    printable(name ?? ""),
    grants.map(shown).join(" "),
    time(createdAt),
    expiresAt === undefined ? "never" : time(expiresAt),
  ]);
  return tell(call, keys, () => table(["key", "name", "may", "made", "expires"], rows));
}

async function set(call: Call, id: string): Promise<number> {
  if (textOf(call, "expires") !== undefined) throw new Misuse("--expires cannot be changed");
  const name = textOf(call, "name");
  const body = { ...askedOf(call), ...(name === undefined ? {} : { name }) };
  const key = await http<KeyInfo>(call, `PUT /v1/keys/${encodeURIComponent(id)}`, body);
  const may = key.grants.map(shown).join(" ");
  return tell(call, key, () => `${key.id} may now: ${may}`);
}

/** `ROLE:QUEUE`, or grants. */
function askedOf(call: Call): { grants: Grant[] } | { role: string; on?: string } {
  const grants = textsOf(call, "grant").map(grantOf);
  const text = textOf(call, "role");
  if (text !== undefined && grants.length > 0) throw new Misuse("give --role or --grant, not both");
  if (text !== undefined) {
    const cut = text.indexOf(":");
    return cut === -1 ? { role: text } : { role: text.slice(0, cut), on: text.slice(cut + 1) };
  }
  if (grants.length > 0) return { grants };
  throw new Misuse("--role or --grant is needed, such as --role viewer or --grant produce:mail");
}

async function create(call: Call): Promise<number> {
  const asked = askedOf(call);
  const name = textOf(call, "name");
  const expires = textOf(call, "expires");
  const expiresAt = expires === undefined ? undefined : Date.parse(expires);
  if (Number.isNaN(expiresAt)) throw new Misuse(`--expires must be a date, got ${expires}`);
  const created = await http<KeyInfo & { key: string }>(call, "POST /v1/keys", {
    ...asked,
    ...(name === undefined ? {} : { name }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
  if (!call.isJson) call.output.progress.write(`key ${created.id}: it is not shown again\n`);
  return tell(call, created, () => created.key);
}

/** `ACTION:QUEUE`, and behind a slash the gates: `produce:mail/smtp:*,bank`. */
function grantOf(text: string): Grant {
  const cut = text.indexOf(":");
  if (cut < 1) throw new Misuse(`--grant must be ACTION:QUEUE, got ${JSON.stringify(text)}`);
  const action = text.slice(0, cut);
  const [on = "", gates] = text.slice(cut + 1).split("/", 2);
  if (gates === undefined) return { action, on };
  return { action, on, gates: gates === "" ? [] : gates.split(",") };
}

function shown({ action, on, gates }: Grant): string {
  return gates === undefined ? `${action}:${on}` : `${action}:${on}/${gates.join(",")}`;
}
