export interface RegistryEntry {
  readonly key: string;
  readonly value: string | undefined;
  readonly revision: number;
}
export interface Registry {
  get(key: string): Promise<{ value: string; revision: number } | undefined>;
  create(key: string, value: string): Promise<number>;
  update(key: string, value: string, revision: number): Promise<number>;
  delete(key: string, revision: number): Promise<void>;
  watch(prefix: string, onEntry: (entry: RegistryEntry) => void): Promise<() => void>;
  close(): Promise<void>;
}
