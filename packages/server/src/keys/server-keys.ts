import type { BrokerAccess } from "../broker-access.ts";
import type { CreatedKey, KeyInfo } from "./key-ring.ts";
import type { AskedGrants, KeyChange, NewKey } from "./new-key.ts";
import { ANYONE } from "./principal.ts";

/** The keys of a server, for the program that runs it: it may do everything. */
export interface ServerKeys {
  list(): Promise<readonly KeyInfo[]>;
  create(
    key: Omit<NewKey, "name" | "grants"> & { name?: string } & AskedGrants,
  ): Promise<CreatedKey>;
  /** Changes what a key may do, at once; its secret stays. */
  set(id: string, change: Omit<KeyChange, "grants"> & AskedGrants): Promise<KeyInfo>;
  revoke(id: string): Promise<void>;
}

export function serverKeys(access: BrokerAccess): ServerKeys {
  return {
    list: async () => (await access.openedKeys()).list(ANYONE),
    create: async (key) => (await access.openedKeys()).create(key, ANYONE),
    set: async (id, change) => (await access.openedKeys()).set(id, change, ANYONE),
    revoke: async (id) => (await access.openedKeys()).revoke(id, ANYONE),
  };
}
