export { checkDurability } from "./durability.ts";
export { findLog } from "./entries.ts";
export { isPassing as isPassingInPostgres, reasonOf as postgresReason } from "./errors.ts";
export { type PostgresLogOptions, parsePostgresAddress, withoutLogin } from "./options.ts";
export { PostgresLog } from "./postgres-log.ts";
export { ensureLogTables, INSTALL_LOCK } from "./schema.ts";
export { PostgresSession, WITHOUT_LIMITS } from "./session.ts";
