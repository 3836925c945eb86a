/** The zones and expressions that are held against the oracle. */

/** Changes of half an hour, of two hours, at midnight, around Ramadan, in the south, and none. */
export const ZONES = [
  "Africa/Cairo",
  "Africa/Casablanca",
  "Africa/El_Aaiun",
  "America/Asuncion",
  "America/Havana",
  "America/New_York",
  "America/Nuuk",
  "America/Santiago",
  "America/St_Johns",
  "Antarctica/Troll",
  "Asia/Beirut",
  "Asia/Gaza",
  "Asia/Kolkata",
  "Atlantic/Azores",
  "Australia/Lord_Howe",
  "Australia/Sydney",
  "Europe/Berlin",
  "Europe/Dublin",
  "Pacific/Chatham",
  "Pacific/Easter",
] as const;

export const CRONS = [
  "*/15 * * * *",
  "7 0-23 * * *",
  "0 0 * * *",
  "30 2 * * *",
  "15,45 1-3 * * *",
  "0 */2 * * *",
  "*/10 0,23 * * 0,6",
  "0 3 * * 1-5",
  "59 23 28-31 * *",
  "0 12 1,15 * 1",
] as const;
