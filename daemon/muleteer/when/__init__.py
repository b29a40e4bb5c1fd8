"""What people say about days, times and spans, understood by rules: no model, no clock, no time zone.

Everything here is naive local time, as on a wall clock; whoever has the words says what time it is now.
Written by hand because the general parsers give one instant: they know no "Friday afternoon", "next week"
or "every weekday". English and German; names of days and months and the commonest words in Spanish, French,
Italian and Dutch, and times of day and spans in Italian, Dutch and Turkish (`idioms`).
"""

from muleteer.when.alarms import Alarm, next_on, read_alarm
from muleteer.when.clocks import read_clock, read_delay, say_delay
from muleteer.when.days import Stretch, find_days, read_days, say_day
from muleteer.when.labels import Meant, apart, read_meant, read_more
from muleteer.when.requests import cut_times
from muleteer.when.settling import names_time, settled
from muleteer.when.several import each_said

__all__ = [
    "Alarm",
    "Meant",
    "Stretch",
    "apart",
    "cut_times",
    "each_said",
    "find_days",
    "names_time",
    "next_on",
    "read_alarm",
    "read_clock",
    "read_days",
    "read_delay",
    "read_meant",
    "read_more",
    "say_day",
    "say_delay",
    "settled",
]
