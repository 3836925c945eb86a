import { conforms } from "../testing/conforms.ts";
import { GATES } from "../testing/exceptions.ts";

conforms("a cluster of 4 partitions", { partitions: 4, exceptions: GATES });
