export { type ConnectOptions, type ConnectParts, connectBroker } from "./connect.ts";
export { type Dial, dialWebSocket, unreachable } from "./dial.ts";
