/** Where the server writes what happens: a pino logger, or a test's list. */
export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
