/**
 * Structured logs. What a request says is never written down: a line has the route as it was
 * declared, not the address that was asked for, because keys travel in headers, queries and paths.
 * Fields that an app logs itself are redacted by name.
 */
import { SluiceError } from "@sluice/protocol";
import { type DestinationStream, type Logger, pino } from "pino";

const LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export type LogLevel = (typeof LEVELS)[number];

export interface LogOptions {
  level?: LogLevel | undefined;
  /** Where lines go; absent: standard error, so that output stays clean. */
  to?: DestinationStream | undefined;
}

const SECRETS = ["apikey", "apiKey", "key", "secret", "token", "password", "passkey"];
const HEADERS = ["authorization", "cookie", '["set-cookie"]', '["x-api-key"]'];

const PATHS = [
  ...SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  ...HEADERS.flatMap((name) => ["", "headers", "*.headers", "*"].map((at) => pathOf(at, name))),
];

function pathOf(at: string, name: string): string {
  return at === "" || name.startsWith("[") ? `${at}${name}` : `${at}.${name}`;
}

export function openLog({ level = "info", to }: LogOptions = {}): Logger {
  if (!LEVELS.includes(level)) {
    const message = `log.level must be one of ${LEVELS.join(", ")}, got ${JSON.stringify(level)}`;
    throw new SluiceError("INVALID", message, { field: "log.level", value: level });
  }
  const options = {
    level,
    redact: { paths: PATHS, censor: "[secret]" },
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: () => `,"at":"${new Date().toISOString()}"`,
  };
  return pino(options, to ?? pino.destination({ dest: 2, sync: true }));
}
