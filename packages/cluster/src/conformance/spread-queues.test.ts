import { conforms } from "../testing/conforms.ts";
import { SPREAD } from "../testing/exceptions.ts";

/** Not the options of jobs, stores, gates and the like, to which it makes no difference. */
const SUBJECTS = [
  "add|operation ids|dedupe|cancel|lease|consume|workers|ack|nack|dead|redrive|retry|job",
  "group|held|setQueue|deleteQueue|queues|fairness|lanes|events|close|crash|names",
];

conforms("a cluster of 4 partitions, queues spread over 3", {
  partitions: 4,
  spread: 3,
  subjects: new RegExp(`^(?:${SUBJECTS.join("|")})`),
  exceptions: SPREAD,
});
