/** What the page takes and shows of data from the server, each bound with its reason. */

/** Of a longer payload or result only the beginning is asked for: more is not read on a page. */
export const BODY_BYTES_MAX = 32 * 1024;

/** A body as formatted text: above this the browser becomes slow. */
export const PRETTY_CHARS = 50_000;

/** A payload in one line of a table. */
export const LINE_CHARS = 120;

/** An error in a line of a table; the job's own page shows it in full. */
export const ERROR_CHARS = 160;

/** A name among the facts of a job; longer values are shown below in full. */
export const FACT_CHARS = 60;

/** On a phone a longer text has a line of its own. */
export const NARROW_CHARS = 24;

/** Rows of one page: jobs and lanes are tall, queues and gates are one line. */
export const JOBS_PER_PAGE = 25;
export const LANES_PER_PAGE = 25;
export const QUEUES_PER_PAGE = 50;
export const GATES_PER_PAGE = 50;
export const SCHEDULES_PER_PAGE = 50;

/** Workers that are shown, and jobs of one that are: a search finds the others. */
export const WORKERS_SHOWN = 100;
export const HELD_SHOWN = 20;

/** Letters of one call of a redrive, and jobs that are retried or cancelled at once. */
export const REDRIVE_AT_ONCE = 500;
export const JOBS_AT_ONCE = 8;

/** Jobs that a job waits for, or that wait for it, on its own page: the graph shows more. */
export const NEIGHBOURS_SHOWN = 10;

/** The result of a step in a line of its job's life. */
export const STEP_CHARS = 120;

/** Events that the page keeps: enough to read back a moment. */
export const EVENTS_SHOWN = 200;

/** Entries of the configuration on a page, and members of a group. */
export const CONFIG_PER_PAGE = 50;
export const MEMBERS_SHOWN = 200;

/** Entries of the audit log on a page. */
export const AUDIT_PER_PAGE = 50;

/** Jobs of a page over all queues, and groups of failures that are shown. */
export const FOUND_PER_PAGE = 50;
export const FAILURES_SHOWN = 100;
