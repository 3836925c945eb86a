"""When cron expressions tick, by the rules of docs/schedules.md and Python's zoneinfo.

Every minute of the years is looked at, in every zone: no search, nothing that is clever, and
nothing in common with what it is held against.

    oracle.py FROM TO ZONE[,ZONE...] CRON...        a line of JSON for each zone and expression
    oracle.py --list FROM TO ZONE CRON              the ticks themselves
"""

import hashlib
import json
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)


def parse(field, low, high):
    """The values that a field of a cron expression matches."""
    values = set()
    for part in field.split(","):
        part, _, step = part.partition("/")
        first, last = (low, high) if part == "*" else (part, part)
        if "-" in str(part):
            first, last = part.split("-")
        values.update(range(int(first), int(last) + 1, int(step or 1)))
    return values


class Cron:
    def __init__(self, text):
        minute, hour, day, month, weekday = text.split()
        self.minutes = parse(minute, 0, 59)
        self.hours = parse(hour, 0, 23)
        self.days = parse(day, 1, 31)
        self.months = parse(month, 1, 12)
        self.weekdays = {value % 7 for value in parse(weekday, 0, 7)}
        self.any_day = day == "*"
        self.any_weekday = weekday == "*"
        self.is_hourly = len(self.hours) == 24

    def matches(self, local):
        if local.minute not in self.minutes or local.hour not in self.hours:
            return False
        if local.month not in self.months:
            return False
        is_day = local.day in self.days
        is_weekday = local.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return is_day and is_weekday
        return is_day or is_weekday


def minutes_of(zone, begin, end):
    """Each minute in UTC, and what the local clock shows then."""
    at = begin
    while at < end:
        yield at, at.astimezone(zone).replace(tzinfo=None)
        at += MINUTE


def ticks_of(crons, zone, begin, end):
    ticks = [[] for _ in crons]
    # The latest local time that was shown: what is shown again is not after it.
    latest = None
    # A day earlier, so that the first minutes know what was shown before them.
    for at, local in minutes_of(zone, begin - timedelta(days=1), end):
        is_again = latest is not None and local <= latest
        skipped = []
        if latest is not None and local > latest + MINUTE:
            missing = latest + MINUTE
            while missing < local:
                skipped.append(missing)
                missing += MINUTE
        if not is_again:
            latest = local
        if at < begin:
            continue
        for i, cron in enumerate(crons):
            if cron.is_hourly:
                is_tick = cron.matches(local)
            else:
                is_tick = not is_again and cron.matches(local)
                is_tick = is_tick or any(cron.matches(one) for one in skipped)
            if is_tick:
                ticks[i].append(int(at.timestamp()) // 60)
    return ticks


def time_of(text):
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def main(arguments):
    is_list = arguments[0] == "--list"
    begin, end, zones, *crons = arguments[1:] if is_list else arguments
    for name in zones.split(","):
        all_ticks = ticks_of([Cron(text) for text in crons], ZoneInfo(name), time_of(begin), time_of(end))
        for cron, ticks in zip(crons, all_ticks):
            if is_list:
                print(json.dumps(ticks))
                continue
            digest = hashlib.sha256(",".join(map(str, ticks)).encode()).hexdigest()
            line = {"zone": name, "cron": cron, "count": len(ticks), "digest": digest}
            print(json.dumps(line), flush=True)


main(sys.argv[1:])
