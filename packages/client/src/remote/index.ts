export {
  type ConnectOptions,
  type ConnectParts,
  connectBroker,
  parseCallTimeout,
  type ReachParts,
  reachBroker,
} from "./connect.ts";
export { closeText, type Dial, dialWebSocket, unreachable } from "./dial.ts";
export type { LinkEvent } from "./link.ts";
