import { checkInteger, invalid } from "@sluice/protocol";
import {
  POSTGRES_ANSWER_MS,
  POSTGRES_ANSWER_MS_MIN,
  POSTGRES_DEADLINE_MS,
  POSTGRES_DEADLINE_MS_MAX,
  READ_CACHE_BYTES,
  READ_CACHE_BYTES_MAX,
  SEGMENT_BYTES,
  SEGMENT_BYTES_MAX,
  SEGMENT_BYTES_MIN,
} from "../limits.ts";
import type { Anchor } from "../log.ts";

export interface PostgresLogOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** The log's name: a database may hold many. */
  readonly name?: string;
  /** Whether it is made when it does not exist; it is by default. */
  readonly create?: boolean;
  /** Whether a log that another process has open is refused (by default) or taken over. */
  readonly exclusive?: boolean;
  /** `os` does not wait for the disk: PostgreSQL's `synchronous_commit` is off for this log. */
  readonly durability?: "fsync" | "os";
  /** What an earlier owner has noted: a log that lacks it is refused as damaged. */
  readonly anchor?: Anchor | undefined;
  /** Where a span ends and the next begins. */
  readonly segmentBytes?: number;
  /** Memory for `read`; 8 MiB. */
  readonly readCacheBytes?: number;
  /** How long nothing may be confirmed before the log fails; 30 s. */
  readonly deadlineMs?: number;
  /** How long one statement waits for its answer before the connection is given up; 10 s. */
  readonly answerMs?: number;
  /** A warning for the operator, in one sentence. */
  readonly onWarning?: (warning: string) => void;
}

/** The log of a database that holds one. */
const MAIN = "main";

export type PostgresSettings = Required<Omit<PostgresLogOptions, "anchor">> & {
  readonly anchor: Anchor | undefined;
};

export function parsePostgresOptions(options: PostgresLogOptions): PostgresSettings {
  const {
    url,
    name = MAIN,
    create = true,
    exclusive = true,
    durability = "fsync",
    anchor,
  } = options;
  const { segmentBytes = SEGMENT_BYTES, readCacheBytes = READ_CACHE_BYTES } = options;
  const { deadlineMs = POSTGRES_DEADLINE_MS, answerMs = POSTGRES_ANSWER_MS } = options;
  const { onWarning = () => {} } = options;
  if (!isPostgresUrl(url)) {
    throw invalid("url", "an address like postgres://user@host:5432/database", withoutLogin(url));
  }
  if (typeof name !== "string" || !/^[\w-]{1,255}$/.test(name)) {
    throw invalid("name", "a name of letters, digits, - and _", name);
  }
  if (durability !== "fsync" && durability !== "os") {
    throw invalid("durability", '"fsync" or "os"', durability);
  }
  checkInteger("segmentBytes", segmentBytes, SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
  checkInteger("readCacheBytes", readCacheBytes, 0, READ_CACHE_BYTES_MAX);
  checkInteger("deadlineMs", deadlineMs, POSTGRES_ANSWER_MS_MIN, POSTGRES_DEADLINE_MS_MAX);
  checkInteger("answerMs", answerMs, POSTGRES_ANSWER_MS_MIN, POSTGRES_DEADLINE_MS_MAX);
  return {
    ...{ url, name, create, exclusive, durability, anchor, segmentBytes, readCacheBytes },
    ...{ deadlineMs, answerMs, onWarning },
  };
}

/** `postgres://user@host/database?log=orders`: without a name the log is `main`. */
export function parsePostgresAddress(
  field: string,
  address: string,
): { url: string; name: string } {
  if (!isPostgresUrl(address)) {
    const wanted = "an address like postgres://user@host:5432/database";
    throw invalid(field, wanted, withoutLogin(address));
  }
  const url = new URL(address);
  const name = url.searchParams.get("log") ?? MAIN;
  url.searchParams.delete("log");
  return { url: url.href, name };
}

function isPostgresUrl(url: unknown): url is string {
  if (typeof url !== "string" || !URL.canParse(url)) return false;
  return ["postgres:", "postgresql:"].includes(new URL(url).protocol);
}

/** The address as it may be shown: without user and password. */
export function withoutLogin(url: unknown): unknown {
  if (typeof url !== "string") return url;
  // A password with a slash makes it something else than an address.
  if (!URL.canParse(url)) return url.replace(/^(\w+:\/\/)?.*@/s, "$1***@");
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  for (const name of ["user", "password"]) shown.searchParams.delete(name);
  return shown.href;
}
