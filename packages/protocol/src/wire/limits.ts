/** Every bound of the stream, each with its reason. Both ends hold to them. */

/** The layout that this code speaks. */
export const WIRE_VERSION = 1;

/**
 * One frame, and one message of several: the largest payload that a broker may be told to take,
 * with its headers and the rest of its job.
 */
export const FRAME_BYTES_MAX = 24 * 1024 * 1024;

/** A batch is cut into frames of about this size, unless one job alone is larger. */
export const FRAME_BYTES_AIM = 2 * 1024 * 1024;

/** Frames of one turn of the event loop travel as one message up to about this size. */
export const MESSAGE_BYTES_AIM = 256 * 1024;

/** Items of one batch: as many as the port takes. */
export const ITEMS_MAX = 10_000;

/** The key, the names and the numbers of a greeting; nobody is known yet who may send more. */
export const HELLO_BYTES_MAX = 8 * 1024;

/** Levels of nested values in JSON: deeper ones could exhaust the stack of who writes them out. */
export const JSON_DEPTH_MAX = 600;
