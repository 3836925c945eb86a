/** Lets the client of the measured node in. */
export const ROOT_KEY = "a root key of a node that is only measured";
