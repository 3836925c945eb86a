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

/**
 * The JSON of the requests of one message, counted before it is parsed: its bytes, its values
 * (commas and opening brackets outside of texts), and the names that differ. Each of them takes
 * 30 ms to parse at most: 2.5 ns for a byte of text, 80 ns for a value, 1.4 µs for a name that was
 * not seen before. A batch of 10,000 jobs with all their options has 200,000 values.
 */
export const JSON_BYTES_MAX = 8 * 1024 * 1024;
export const JSON_VALUES_MAX = 250_000;
export const JSON_NAMES_MAX = 20_000;

/** The arguments of a call that names a thing and some options: as much as over HTTP. */
export const SMALL_CALL_BYTES_MAX = 64 * 1024;
