import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
} from "@nats-io/transport-node";
import { SluiceError } from "@sluice/protocol";
import { NATS_CONNECT_MS, NATS_PING_MS, NATS_RECONNECT_MS } from "../limits.ts";
import { asksCertificate, placeOf } from "./asks-certificate.ts";
import { placeJetStream } from "./jetstream-place.ts";
import { lastingFault } from "./lasting.ts";
import { NatsLink } from "./nats-link.ts";

/** What one shows to NATS servers, and whom one trusts. */
export interface NatsAccess {
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  /** What a credentials file holds: a JWT and the seed of its key. */
  readonly creds?: Uint8Array;
  /** The seed of an NKEY, as `nk` writes it. */
  readonly nkeySeed?: Uint8Array;
  /** Where JetStream is, when it is not in the account of the login: a domain, or a prefix. */
  readonly domain?: string;
  readonly apiPrefix?: string;
  /** Which of the servers is tried first, so that several processes can be spread over them. */
  readonly first?: number;
  /** Nothing goes over the line without TLS; absent: TLS where a server asks for it. */
  readonly tls?: NatsTls;
}

/** As PEM. */
interface NatsTls {
  /** Who signs the servers; absent: the authorities that Node knows. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Resolves when the server has all that was sent to it; DISCONNECTED when it is gone before. */
export async function flushed(connection: NatsConnection): Promise<void> {
  try {
    await connection.flush();
  } catch (cause) {
    const message = "the connection to NATS was lost before the server had answered";
    throw new SluiceError("DISCONNECTED", message, {}, { cause });
  }
}

/**
 * A connection as a log needs it: it is made again for as long as the process runs, and by the
 * servers that are named here, not by those that they tell of: only the former are known to be
 * reached from here. Rejects with DISCONNECTED when no server answers, and with what is wrong when
 * waiting would not help.
 */
export async function connectNats(
  servers: readonly string[],
  access: NatsAccess = {},
): Promise<NatsConnection> {
  const options = connectionOptions(servers, access);
  try {
    const connection = await connect(options);
    placeJetStream(connection, access);
    // Watched from its first moment, also if no log is opened on it.
    NatsLink.of(connection);
    return connection;
  } catch (error) {
    const place = servers.join(", ");
    const lasting = lastingFault(error, place);
    if (lasting !== undefined) throw lasting;
    if (await lacksCertificate(servers, access, error)) {
      const message = `TLS handshake with ${place} failed: it requires a client certificate (--nats-cert)`;
      throw new SluiceError("LOG_FAILED", message, { field: "cert" }, { cause: error });
    }
    const reason = error instanceof Error ? error.message : String(error);
    const message = `no NATS server answers at ${place}: ${reason}`;
    throw new SluiceError("DISCONNECTED", message, { servers: [...servers] }, { cause: error });
  }
}

async function lacksCertificate(
  servers: readonly string[],
  { tls }: NatsAccess,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof errors.TimeoutError) || tls?.cert !== undefined) return false;
  return (await Promise.all(servers.map(asksCertificate))).includes(true);
}

function connectionOptions(servers: readonly string[], access: NatsAccess): NodeConnectionOptions {
  const { creds, nkeySeed, tls, first, domain: _, apiPrefix: __, ...login } = access;
  const authenticator = authenticatorOf(creds, nkeySeed);
  return {
    servers: [...servers.slice(first), ...servers.slice(0, first)],
    noRandomize: first !== undefined,
    timeout: NATS_CONNECT_MS,
    maxReconnectAttempts: -1,
    // A login that servers refuse for a while, as they are changed one after the other.
    ignoreAuthErrorAbort: true,
    ignoreClusterUpdates: true,
    reconnectTimeWait: NATS_RECONNECT_MS,
    reconnectJitter: NATS_RECONNECT_MS,
    pingInterval: NATS_PING_MS,
    maxPingOut: 2,
    noAsyncTraces: true,
    ...login,
    ...(authenticator === undefined ? {} : { authenticator }),
    ...(tls === undefined ? {} : { tls: { ...tls, ...identityOf(servers) } }),
  };
}

/** Tried here: the client would end its reader by a file that is none, and say so nowhere. */
function authenticatorOf(creds?: Uint8Array, seed?: Uint8Array): Authenticator | undefined {
  const made = (creds && credsAuthenticator(creds)) ?? (seed && nkeyAuthenticator(seed));
  if (made === undefined) return undefined;
  try {
    made("nonce");
    return made;
  } catch (error) {
    const what = creds === undefined ? "the NKEY seed" : "the credentials";
    const message = `${what} for NATS cannot be read: ${(error as Error).message}`;
    const field = creds === undefined ? "nkey" : "creds";
    throw new SluiceError("INVALID", message, { field }, { cause: error });
  }
}

/**
 * The client names no server that was dialled by its address, and Node compares the certificate
 * with "localhost" then. It must be that of one of the addresses.
 */
function identityOf(servers: readonly string[]): object {
  const hosts = servers.map((server) => placeOf(server).host);
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  if (hosts.includes("localhost")) return {};
  return {
    checkServerIdentity: (host: string, certificate: PeerCertificate): Error | undefined => {
      if (host !== "localhost") return checkServerIdentity(host, certificate);
      const flaws = addresses.map((address) => checkServerIdentity(address, certificate));
      if (flaws.includes(undefined)) return undefined;
      return flaws[0] ?? checkServerIdentity(host, certificate);
    },
  };
}
