/** A search as it is asked for in JSON. */
import { SluiceError } from "sluice";
import { parseQuery, QUERY_FIELDS, QueryError, type SearchQuery } from "../client/query.ts";
import { DEADLINE_MS_MAX } from "../limits.ts";
import { isPriority, PRIORITIES } from "../scheduler/priority.ts";
import type { SearchRequest } from "../service/service.ts";
import { durationMs, fieldsOf, invalid, positiveMs } from "../settings/fields.ts";

const OWN = ["indexers", "priority", "maxWait", "deadline"] as const;
const HOUR_MS = 3_600_000;

/** The search's own parameters stand beside ours, as they stand in a URL. */
export function parseRequest(body: unknown): SearchRequest {
  const given = fieldsOf("search", body, [...OWN, ...QUERY_FIELDS]);
  const { indexers, priority, maxWait, deadline, ...parameters } = given;
  if (priority !== undefined && !isPriority(priority)) {
    throw invalid("search.priority", `one of ${PRIORITIES.join(", ")}`, priority);
  }
  const isList = Array.isArray(indexers) && indexers.every((id) => typeof id === "string");
  if (indexers !== undefined && !isList) {
    throw invalid("search.indexers", "a list of ids", indexers);
  }
  return {
    query: queryOf(parameters),
    indexers: indexers as string[] | undefined,
    priority,
    maxWaitMs: maxWait === undefined ? undefined : durationMs("search.maxWait", maxWait, HOUR_MS),
    deadlineMs:
      deadline === undefined ? undefined : positiveMs("search.deadline", deadline, DEADLINE_MS_MAX),
  };
}

/** In a URL everything is a text; here what is none must not be passed over. */
function queryOf(given: Readonly<Record<string, unknown>>): SearchQuery {
  const texts = Object.entries(given).map(([name, value]) => {
    const isList = name === "cat" && Array.isArray(value);
    if ((isList ? value : [value]).every(isScalar)) return [name, isList ? value.join() : value];
    throw invalid(`search.${name}`, "a text or a number", value);
  });
  try {
    return parseQuery(Object.fromEntries(texts));
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const { message, field, value } = error;
    throw new SluiceError("INVALID", `search.${message}`, { field: `search.${field}`, value });
  }
}

function isScalar(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}
