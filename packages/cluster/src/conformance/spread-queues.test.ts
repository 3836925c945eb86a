import { conforms } from "../testing/conforms.ts";
import { GATES, SPREAD } from "../testing/exceptions.ts";

conforms("a cluster of 4 partitions, queues spread over 3", {
  partitions: 4,
  spread: 3,
  exceptions: { ...GATES, ...SPREAD },
});
