import { testHeartbeats } from "./conformance.ts";
import { MemoryHeartbeats } from "./memory-heartbeats.ts";

testHeartbeats("memory", async () => {
  const shared = new MemoryHeartbeats();
  return async () => new MemoryHeartbeats(shared);
});
