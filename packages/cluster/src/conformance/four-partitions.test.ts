import { conforms } from "../testing/conforms.ts";
import { GATES, MOVES } from "../testing/exceptions.ts";

/** Of one queue, which is in one partition. Gates, groups and names go beyond it. */
const SKIPPED =
  /^(?:job options|limits of a job|policies$|capacity|admission|fairness|tiers|deliveries)/;

conforms("a cluster of 4 partitions", {
  partitions: 4,
  exceptions: { ...GATES, ...MOVES },
  skipped: SKIPPED,
});
