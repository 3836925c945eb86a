/**
 * Rows of one batch: a commit of the broker, and one statement here, carry all of them. Each shard
 * may have one on its way, so their memory is 16 times as much.
 */
export const BATCH_ROWS_MAX = 1000;
export const BATCH_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Of their options: a message of the stream may have 250,000 values, and these have 180,000 at
 * most. Without it 1,000 jobs with 300 dependencies each were refused together.
 */
export const BATCH_OPTIONS_BYTES_MAX = 512 * 1024;

/**
 * Of the batches that one statement fetches: 64 MiB for all shards took more than 10 s over a slow
 * link, and then began again. A batch of a single larger row is fetched alone.
 */
export const FETCH_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The most that any broker takes. A larger payload is refused when it is added, and not read by a
 * relay: one of 280 MB ended the process, for its text was too long for a string.
 */
export const PAYLOAD_BYTES_MAX = 16 * 1024 * 1024;

/** Five times what all options of a job can take; a relay reads them like the payloads. */
export const OPTIONS_BYTES_MAX = 1024 * 1024;

/** Between two looks while rows came lately: a delay that people do not notice. */
export const POLL_MS = 5;

/** Without rows for so long a relay sleeps, and adds wake it. */
export const SLEEP_AFTER_MS = 2000;

/** A transaction that began while the relay was awake does not wake it: this poll finds it. */
export const SLEEP_POLL_MS = 500;

/** After a failure, and after a queue was full. */
export const RETRY_MS = 100;
export const RETRY_MS_MAX = 5000;

/**
 * A fault of the broker may pass, so a batch is sent so often, over 6 seconds. After that its rows
 * are sent one by one, and the one that meets the fault again is kept with it.
 */
export const FAULTS_MAX = 7;

/** How long it is known which job a row became. */
export const KEPT_HOURS = 24;

/** Between two looks at the notes of `job.once`, and how many are looked at. */
export const NOTES_MS = 1000;
export const NOTES_MAX = 1000;

/**
 * Without a byte of the database: one that accepts connections and says nothing is given up. A slow
 * link may take longer for all bytes of an answer.
 */
export const ANSWER_MS = 10_000;
