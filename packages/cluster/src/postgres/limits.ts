/** Between two looks at the registry beside what is notified; a look proves the connection too. */
export const LOOK_MS = 1000;

/** After a connection was lost. */
export const RECONNECT_MS = 100;

/** PostgreSQL takes payloads of up to 7,999 bytes; the rest is for what joins the parts again. */
export const NOTICE_BYTES_MAX = 7900;

/** How long it is remembered that an entry was deleted: a watch that was away longer reads all. */
export const DELETED_HOURS = 1;

/** Until one statement is answered; an owner proves itself within two thirds of a lease. */
export const ANSWER_MS = 1500;
