/**
 * Structured logs. What a request says is never written down: a line has the route as it was
 * declared, not the address that was asked for, because keys travel in headers, queries and paths.
 * Fields that an app logs itself are redacted by name.
 */
import { type DestinationStream, type Logger, pino } from "pino";

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

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
  const options = {
    level,
    redact: { paths: PATHS, censor: "[secret]" },
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: () => `,"at":"${new Date().toISOString()}"`,
  };
  return pino(options, to ?? pino.destination({ dest: 2, sync: true }));
}
