/** Where NATS servers are and what they are shown, as all commands take it. */
import type { NatsAccess } from "@sluice/log/nats";
import {
  flagOf,
  SERVER_OPTIONS,
  type ServerSettings,
  SluiceError,
  variableOf,
} from "@sluice/protocol";
import { type Call, type Options, textOf } from "./command.ts";
import { readPem } from "./read-pem.ts";

/** What a node of a cluster and the copy of a stream load. */
export const NATS_PACKAGES = [
  "@sluice/server",
  "@nats-io/transport-node",
  "@nats-io/jetstream",
  "@nats-io/kv",
] as const;

export interface NatsAddress {
  readonly servers: readonly string[];
  readonly login: Pick<NatsAccess, "user" | "pass" | "token">;
  /** `tls://`: nothing is said to a server that does not speak it. */
  readonly isTls: boolean;
  readonly stream: string | undefined;
  /** As people may see it: without the login. */
  readonly shown: string;
}

const SCHEME = /^(nats|tls):\/\//;
const SERVER = /^(?:(.*)@)?((?:\[[0-9a-fA-F:.]+\]|[^\s:/@[\]]+)(?::\d{1,5})?)$/s;

/**
 * `nats://USER:PASSWORD@a:4222,b,c/STREAM`: a login is the same for all, one word alone is a token;
 * `tls://` for servers that must speak it. What has a meaning in there is said in percents.
 */
export function parseNatsAddress(text: string): NatsAddress | undefined {
  const [, all, stream] = /^(.*?)(?:(?<![/:])\/([\w-]*))?$/s.exec(text) ?? [];
  const parts = (all ?? "").split(",").map((part) => part.trim());
  const servers = parts.map((part) => SERVER.exec(part.replace(SCHEME, "")));
  const logins = new Set(servers.flatMap((server) => server?.[1] ?? []));
  if (servers.includes(null) || logins.size > 1) return undefined;
  const login = loginOf([...logins][0]);
  if (login === undefined) return undefined;
  const isTls = parts.some((part) => part.startsWith("tls://"));
  const scheme = isTls ? "tls" : "nats";
  const hosts = servers.map((server) => server![2]!);
  return {
    servers: hosts.map((host) => `${scheme}://${host}`),
    login,
    isTls,
    stream: stream === "" ? undefined : stream,
    shown: `${scheme}://${hosts.join(",")}${stream ? `/${stream}` : ""}`,
  };
}

function loginOf(text: string | undefined): NatsAddress["login"] | undefined {
  if (text === undefined) return {};
  try {
    const [name = "", ...rest] = text.split(":").map((part) => decodeURIComponent(part));
    if (name === "" || rest.length > 1) return undefined;
    return rest[0] === undefined ? { token: name } : { user: name, pass: rest[0] };
  } catch {
    return undefined;
  }
}

/** Something that should have been an address, as it may be shown. */
export function withoutLogin(text: string): string {
  const shown = text.replace(/^(\w+:\/\/)?.*@/s, "$1***@");
  return shown.replace(/([?&](?:user|password)=)[^&]*/g, "$1***");
}

const NATS_NAMES = [
  "natsCreds",
  "natsNkey",
  "natsCa",
  "natsCert",
  "natsKey",
  "natsDomain",
  "natsApiPrefix",
] as const;

/** What is not a file. */
const NATS_WORDS: readonly string[] = ["natsDomain", "natsApiPrefix"];

/** Files and words beside the address, by the names of their options. */
export type NatsFiles = Pick<ServerSettings, (typeof NATS_NAMES)[number]>;

export const NATS_OPTIONS: Options = Object.fromEntries(
  NATS_NAMES.map((name) => [flagOf(name), { type: "string" }]),
);

export const NATS_USAGE = NATS_NAMES.map((name) => {
  const flag = `  --${flagOf(name)} ${NATS_WORDS.includes(name) ? "NAME" : "FILE"}`;
  return `${flag.padEnd(24)} ${SERVER_OPTIONS[name].text}`;
}).join("\n");

/** The files that flags or the environment name. */
export function natsFiles(call: Call): NatsFiles {
  const given = NATS_NAMES.map((name) => {
    return [name, textOf(call, flagOf(name)) ?? (call.env[variableOf(name)] || undefined)];
  });
  return Object.fromEntries(given.filter(([, path]) => path !== undefined));
}

/** What servers are shown, and whom one trusts; files that cannot be are refused by their names. */
export function natsAccess(address: NatsAddress, files: NatsFiles): NatsAccess {
  const { natsCa: ca, natsCert: cert, natsKey: key } = files;
  if ((cert === undefined) !== (key === undefined)) {
    throw new SluiceError("INVALID", "--nats-cert and --nats-key must be given together");
  }
  const tls = {
    ...(ca === undefined ? {} : { ca: readPem("nats-ca", ca).toString() }),
    ...(cert === undefined ? {} : { cert: readPem("nats-cert", cert).toString() }),
    ...(key === undefined ? {} : { key: readPem("nats-key", key).toString() }),
  };
  return {
    ...loginAccess(address, files),
    ...placeAccess(files),
    ...(address.isTls || Object.keys(tls).length > 0 ? { tls } : {}),
  };
}

function loginAccess({ login }: NatsAddress, { natsCreds, natsNkey }: NatsFiles): NatsAccess {
  const given = [
    ...(natsCreds === undefined ? [] : ["--nats-creds"]),
    ...(natsNkey === undefined ? [] : ["--nats-nkey"]),
    ...(Object.keys(login).length > 0 ? ["a login in the address"] : []),
  ];
  if (given.length > 1) {
    throw new SluiceError("INVALID", `use either ${given.join(" or ")}, not both`);
  }
  if (natsCreds !== undefined) return { creds: readPem("nats-creds", natsCreds) };
  if (natsNkey === undefined) return login;
  const seed = readPem("nats-nkey", natsNkey).toString().trim();
  return { nkeySeed: new TextEncoder().encode(seed) };
}

function placeAccess({ natsDomain: domain, natsApiPrefix: apiPrefix }: NatsFiles): NatsAccess {
  if (domain !== undefined && apiPrefix !== undefined) {
    throw new SluiceError("INVALID", "use either --nats-domain or --nats-api-prefix, not both");
  }
  return {
    ...(domain === undefined ? {} : { domain }),
    ...(apiPrefix === undefined ? {} : { apiPrefix }),
  };
}
