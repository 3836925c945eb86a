export {
  type ConnectOptions,
  type ConnectParts,
  connectBroker,
  type ReachParts,
  reachBroker,
} from "./connect.ts";
export { type Dial, dialWebSocket, unreachable } from "./dial.ts";
