import type { StoreEntry } from "../calls/options.ts";
import type { Schema } from "../kinds.ts";
import { ANYTHING, maybe, shape, TEXT } from "./schema.ts";

export const ENTRY: Schema = shape<StoreEntry>({ key: TEXT, value: maybe(ANYTHING) });
