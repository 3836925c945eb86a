/** The version of all packages of this repository: what is built and packed takes it from here. */
export const VERSION = "0.1.0";
