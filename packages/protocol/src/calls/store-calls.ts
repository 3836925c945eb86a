import type { Page } from "../queue.ts";
import * as shapes from "../shapes/index.ts";
import { call } from "./call.ts";
import { batch, PAGE, STORE, text, told } from "./kinds.ts";
import type { OperationOptions, ScanOptions, StoreEntry } from "./options.ts";

/** Small keyed stores on the same log, for what applications and policies must remember. */
export const STORE_CALLS = {
  storeGet: call<[store: string, keys: readonly string[]], (unknown | undefined)[]>({
    says: "Reads values of a store; undefined for a key that it does not hold.",
    about: "store",
    args: [STORE, batch("keys", shapes.TEXT)],
    may: "any",
    repeat: "read",
    hasHoles: true,
    answer: shapes.list(shapes.ANYTHING),
    http: { route: "GET /v1/stores/:store/:key", isOwn: true },
  }),
  storeWrite: call<[store: string, entries: readonly StoreEntry[]], void, OperationOptions>({
    says: "Writes entries, all or none; a value of undefined deletes its key.",
    about: "store",
    args: [STORE, batch("entries", shapes.ENTRY)],
    may: "produce",
    repeat: "once",
    http: { route: "POST /v1/stores/:store", isOwn: true },
  }),
  storeScan: call<[store: string], Page<StoreEntry>, ScanOptions>({
    says: "Lists the entries of a store by key, by page.",
    about: "store",
    args: [STORE],
    options: { ...PAGE, prefix: told(text(1024), "How the keys begin.") },
    may: "any",
    repeat: "read",
    answer: shapes.page(shapes.ENTRY),
    http: "GET /v1/stores/:store",
  }),
};
