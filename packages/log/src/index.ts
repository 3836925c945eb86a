export { type CheckOptions, checkLog } from "./check.ts";
export { FileLog } from "./file-log.ts";
export type { Damage, LogReport } from "./inspect.ts";
export type { Batch, Log, Position, Span } from "./log.ts";
export { MemoryLog, type MemoryLogOptions } from "./memory-log.ts";
export type { FileLogOptions } from "./options.ts";
export type { Processes, ProcessName } from "./processes.ts";
export { type RepairReport, repairLog } from "./repair.ts";
export type { Durability } from "./writer.ts";
