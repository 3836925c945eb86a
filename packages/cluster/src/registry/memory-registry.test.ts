import { testRegistry } from "./conformance.ts";
import { MemoryRegistry } from "./memory-registry.ts";

testRegistry("memory", async () => {
  const registry = new MemoryRegistry();
  return { open: async () => new MemoryRegistry(registry) };
});
