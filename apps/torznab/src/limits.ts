/** Every limit on input from outside, each with its reason. */

/** Bytes of one answer: the largest feeds seen have a few MiB. A setting may lower it. */
export const RESPONSE_BYTES_MAX = 16 * 1024 * 1024;

/** Elements and sections of one document: 1,000 items of 50 attributes each, twice over. */
export const XML_NODES_MAX = 100_000;

/** Levels of elements: rss/channel/item/attr is four. */
export const XML_DEPTH_MAX = 32;

/** Attributes of one element: the richest of the protocol has six. */
export const XML_ATTRIBUTES_MAX = 64;

/** Entity and character references of one document: beyond it they are an attack, not text. */
export const XML_REFERENCES_MAX = 100_000;

/** Characters of one tag, text or section: a parser takes seconds for one of many MiB. */
export const XML_STRETCH_CHARS_MAX = 256 * 1024;

/** Bytes up to which a document does not wait behind the large ones. */
export const SMALL_DOCUMENT_BYTES_MAX = 1024 * 1024;

/** How long a document may take to read before its thread is ended: the largest take seconds. */
export const PARSE_MS_MAX = 10_000;

/** Heap of the thread that reads documents: a 16 MiB one makes about 150 MiB of tree. */
export const PARSE_HEAP_MIB = 384;

/** Characters of a text kept from an answer; descriptions are not kept at all. */
export const TEXT_CHARS_MAX = 2_048;

/** Characters of an indexer's error description that are passed on. */
export const DESCRIPTION_CHARS_MAX = 300;

/** Attributes kept of one item, repeats included. */
export const ITEM_ATTRIBUTES_MAX = 64;

/** What an indexer may ask for by `Retry-After`: longer is a mistake, or an insult. */
export const RETRY_AFTER_MS_MAX = 24 * 3_600_000;

/** Redirects of one request. */
export const REDIRECTS_MAX = 3;

/** Bytes of a downloaded torrent file: those of many thousand files have a few MiB. */
export const DOWNLOAD_BYTES_MAX = 16 * 1024 * 1024;

/** Characters of a query: a title with its year, many times over. */
export const QUERY_CHARS_MAX = 512;

/** Categories named in one search. */
export const CATEGORIES_MAX = 100;

/** Items asked of an indexer at once, unless its usual page is larger. */
export const PAGE_ITEMS_USUAL = 100;

/** Releases of one indexer that a search fetches page by page: as many as it may hold of ten. */
export const RELEASES_WANTED_MAX = 10_000;

/** Items of a page of our own feed. */
export const PAGE_ITEMS_MAX = 1_000;

/** Rows of a page of the history. */
export const HISTORY_PAGE_MAX = 1_000;

/** How long a search may take: a batch that waits for a daily limit needs a day. */
export const DEADLINE_MS_MAX = 24 * 3_600_000;

/** A log that takes longer to write a few bytes is of no use. */
export const READY_MS = 2_000;

/** Searches that run at once: beyond it none could be served in time. */
export const SEARCHES_RUNNING_MAX = 2_000;

/** Programs whose indexers are taken over, and how often their lists are read. */
export const SOURCES_MAX = 20;
export const SYNC_EVERY_MS = 3_600_000;
/** The first reading after a start: the other program may be starting as well. */
export const SYNC_DELAY_MS = 10_000;
/** Indexers that one of them may list. */
export const LISTED_INDEXERS_MAX = 500;

/** Indexers that may be configured: each has a gate and a line in every list. */
export const INDEXERS_MAX = 1_000;

/** Windows of one indexer. */
export const WINDOWS_MAX = 8;

/** Bytes of a body sent to our own API. */
export const BODY_BYTES_MAX = 64 * 1024;

/** Entries and items of the result cache. */
export const CACHE_ENTRIES_MAX = 1_000;
export const CACHE_ITEMS_MAX = 100_000;

/** Bytes of an answer that is kept with a resumable task: it lies in the log. */
export const KEPT_ANSWER_BYTES_MAX = 256 * 1024;

/** Finished and running searches that can be asked for, and the releases that they may hold. */
export const SEARCHES_MAX = 500;
export const SEARCH_ITEMS_MAX = 200_000;

/** Tasks listed as activity. */
export const ACTIVITY_MAX = 200;

/** Hosts with limits of their own: a few for each program that runs in front of trackers. */
export const HOSTS_MAX = 200;

/** Categories of one indexer that may be mapped: the largest trackers have about a hundred. */
export const CATEGORIES_MAPPED_MAX = 500;

/** Releases of our latest feeds that can be downloaded by their guid: some 500 bytes each. */
export const RECENT_DOWNLOADS_MAX = 10_000;

/** A guid that a client names: as long as an address of an indexer may be. */
export const GUID_CHARS_MAX = 2_000;
