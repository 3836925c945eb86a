export { connectProblem } from "./connect-problem.ts";
export { type ClientTls, dialWs } from "./dial-ws.ts";
