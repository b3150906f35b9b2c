"""Working calendars: known days in Berlin, New York and elsewhere, and a naive clock as witness."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.questions.calendars import ALWAYS, Calendar, parse_days, parse_hours, problem

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
MON_FRI = frozenset(range(5))
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
OFFICE = Calendar("Europe/Berlin", time(9), time(17), MON_FRI)
BAVARIA = Calendar("Europe/Berlin", time(9), time(17), MON_FRI, "DE-BY")


def berlin(month: int, day: int, hour: int = 0, minute: int = 0, *, fold: int = 0) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=BERLIN, fold=fold)


def same(left: datetime, right: datetime) -> bool:
    """Equal as moments, whatever the zones; `==` is false for repeated hours of two zones."""
    return left.astimezone(UTC) == right.astimezone(UTC)


# --- the week ---------------------------------------------------------------------------------


def test_a_span_stands_still_at_night_and_over_the_weekend() -> None:
    friday = berlin(1, 16, 16)
    assert same(OFFICE.add(friday, HOUR), berlin(1, 16, 17))
    assert same(OFFICE.add(friday, 2 * HOUR), berlin(1, 19, 10))
    assert same(OFFICE.add(friday, 24 * HOUR), berlin(1, 21, 16))
    assert OFFICE.between(friday, berlin(1, 19, 10)) == 2 * HOUR


def test_the_result_is_in_utc() -> None:
    assert OFFICE.add(berlin(1, 16, 10), HOUR).tzinfo is UTC
    assert ALWAYS.add(berlin(1, 16, 10), HOUR).tzinfo is UTC


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (berlin(1, 16, 16, 59), berlin(1, 16, 16, 59)),
        (berlin(1, 16, 9), berlin(1, 16, 9)),
        (berlin(1, 16, 17), berlin(1, 19, 9)),
        (berlin(1, 16, 8), berlin(1, 16, 9)),
        (berlin(1, 18, 12), berlin(1, 19, 9)),
    ],
)
def test_a_span_of_nothing_leads_to_the_next_open_moment(
    start: datetime, expected: datetime
) -> None:
    assert same(OFFICE.add(start, timedelta()), expected)


def test_opening_is_open_and_closing_is_closed() -> None:
    assert OFFICE.is_open(berlin(1, 16, 9))
    assert OFFICE.is_open(datetime(2026, 1, 16, 15, 59, tzinfo=UTC))
    assert not OFFICE.is_open(berlin(1, 16, 17))
    assert not OFFICE.is_open(berlin(1, 16, 8, 59))
    assert not OFFICE.is_open(berlin(1, 17, 12))


def test_between_is_nothing_backwards_and_outside_the_hours() -> None:
    assert OFFICE.between(berlin(1, 16, 12), berlin(1, 16, 10)) == timedelta()
    assert OFFICE.between(berlin(1, 16, 12), berlin(1, 16, 12)) == timedelta()
    assert OFFICE.between(berlin(1, 16, 18), berlin(1, 19, 8)) == timedelta()
    assert ALWAYS.between(berlin(1, 16, 12), berlin(1, 16, 10)) == timedelta()


def test_new_york_works_other_hours_than_berlin() -> None:
    office = Calendar("America/New_York", time(9), time(17), MON_FRI, "US")
    # Thursday evening there; Friday 3 July 2026 is kept for the 4th, a Saturday.
    start = datetime(2026, 7, 2, 16, 30, tzinfo=NEW_YORK)
    assert same(office.add(start, HOUR), datetime(2026, 7, 6, 9, 30, tzinfo=NEW_YORK))
    assert office.is_open(datetime(2026, 7, 2, 20, 59, tzinfo=UTC))
    assert not OFFICE.is_open(datetime(2026, 7, 2, 20, 59, tzinfo=UTC))
    # The clocks there change three weeks before those of Berlin.
    monday = datetime(2026, 3, 9, 13, 0, tzinfo=UTC)
    assert office.is_open(monday)
    assert not office.is_open(monday - MINUTE)


# --- days off ---------------------------------------------------------------------------------


def test_christmas_is_off_in_germany() -> None:
    germany = Calendar("Europe/Berlin", time(9), time(17), MON_FRI, "DE")
    # 25 December 2026 is a Friday.
    assert same(germany.add(berlin(12, 24, 16), 2 * HOUR), berlin(12, 28, 10))
    assert same(OFFICE.add(berlin(12, 24, 16), 2 * HOUR), berlin(12, 25, 10))


def test_epiphany_is_off_in_bavaria_alone() -> None:
    germany = Calendar("Europe/Berlin", time(9), time(17), MON_FRI, "DE")
    epiphany = berlin(1, 6, 12)
    assert germany.is_open(epiphany)
    assert not BAVARIA.is_open(epiphany)
    assert same(BAVARIA.add(berlin(1, 5, 16), 2 * HOUR), berlin(1, 7, 10))


def test_further_days_off_are_off() -> None:
    away = Calendar(
        "Europe/Berlin", time(9), time(17), MON_FRI, closed=frozenset({date(2026, 1, 19)})
    )
    assert not away.is_open(berlin(1, 19, 12))
    assert same(away.add(berlin(1, 16, 16), 2 * HOUR), berlin(1, 20, 10))
    assert away.between(berlin(1, 16, 16), berlin(1, 20, 10)) == 2 * HOUR


def test_a_day_off_is_a_day_of_the_time_zone() -> None:
    away = Calendar("Europe/Berlin", closed=frozenset({date(2026, 1, 19)}))
    assert same(away.add(berlin(1, 18, 23), 2 * HOUR), berlin(1, 20, 1))


# --- the clocks change ------------------------------------------------------------------------


@pytest.mark.parametrize("start", [berlin(3, 28, 12), berlin(10, 24, 12)])
def test_around_the_clock_a_day_is_a_day_whatever_the_clocks_do(start: datetime) -> None:
    # One closed day far away, so that the days are really counted.
    calendar = Calendar("Europe/Berlin", closed=frozenset({date(2030, 1, 1)}))
    begin = start.astimezone(UTC)
    assert calendar.add(start, 24 * HOUR) == begin + 24 * HOUR
    assert ALWAYS.add(start, 24 * HOUR) == begin + 24 * HOUR
    assert calendar.between(start, begin + 48 * HOUR) == 48 * HOUR


@pytest.mark.parametrize(
    ("opens", "closes", "spring", "autumn"),
    [
        (time(9), time(17), 8, 8),
        (time(0), time(6), 5, 7),
        (time(0), None, 23, 25),
        (time(0), time(2), 2, 2),
        (time(2), time(3), 0, 2),
        (time(3), time(5), 2, 2),
        # Half past two is skipped, or comes twice: open from 2:30 to 3:00, and again.
        (time(2, 30), time(5), 2, 3),
        (time(0), time(2, 30), 2, 3),
    ],
)
def test_a_window_has_the_hours_that_the_clock_on_the_wall_shows(
    opens: time, closes: time | None, spring: float, autumn: float
) -> None:
    calendar = Calendar("Europe/Berlin", opens, closes)
    assert calendar.between(berlin(3, 29), berlin(3, 30)) == spring * HOUR
    assert calendar.between(berlin(10, 25), berlin(10, 26)) == autumn * HOUR


def test_opening_in_the_skipped_hour_is_opening_after_it() -> None:
    calendar = Calendar("Europe/Berlin", time(2, 30), time(5))
    assert same(calendar.add(berlin(3, 29), timedelta()), berlin(3, 29, 3))


def test_the_repeated_hour_closes_and_opens_again() -> None:
    calendar = Calendar("Europe/Berlin", time(0), time(2, 30))
    first_close, again = berlin(10, 25, 2, 30), berlin(10, 25, 2, fold=1)
    assert same(calendar.add(berlin(10, 25), 2.5 * HOUR), first_close)
    assert same(calendar.add(first_close, timedelta()), again)
    assert same(calendar.add(first_close, MINUTE), berlin(10, 25, 2, 1, fold=1))


def test_clocks_that_change_at_midnight() -> None:
    # Havana skips the first hour of 8 March 2026; St. John's repeated the last of 6 November 2010,
    # a minute into the next day, so that the days interleave.
    havana = Calendar("America/Havana", time(0), time(8), days=frozenset({6}))
    skipped = datetime(2026, 3, 7, 20, tzinfo=UTC)
    assert havana.add(skipped, timedelta()) == datetime(2026, 3, 8, 5, tzinfo=UTC)
    assert havana.between(skipped, skipped + 48 * HOUR) == 7 * HOUR
    saturday = Calendar("America/St_Johns", days=frozenset({5}))
    noon = datetime(2010, 11, 6, 12, tzinfo=UTC)
    reference = sum(saturday.is_open(noon + step * MINUTE) for step in range(48 * 60))
    assert saturday.between(noon, noon + 48 * HOUR) == reference * MINUTE


# --- properties -------------------------------------------------------------------------------

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"]


@st.composite
def calendars(draw: st.DrawFn) -> Calendar:
    opens = draw(st.integers(0, 22 * 60))
    closes = draw(st.none() | st.integers(opens + 60, 24 * 60 - 1))
    return Calendar(
        timezone=draw(st.sampled_from(ZONES)),
        opens=time(opens // 60, opens % 60),
        closes=None if closes is None else time(closes // 60, closes % 60),
        days=draw(st.frozensets(st.integers(0, 6), min_size=1)),
        holidays=draw(st.sampled_from(["", "DE-BY", "US"])),
        closed=draw(st.frozensets(st.dates(date(2026, 1, 1), date(2026, 12, 31)), max_size=5)),
    )


MOMENTS = st.datetimes(
    datetime(2026, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    datetime(2027, 6, 1),  # noqa: DTZ001
    timezones=st.sampled_from([ZoneInfo(name) for name in ZONES]),
)
SPANS = st.timedeltas(timedelta(), timedelta(days=60))
# Around the clock changes of Berlin, New York, Lord Howe and Santiago.
CHANGES = st.sampled_from([date(2026, *day) for day in ((3, 8), (3, 29), (4, 5), (10, 4))])


@settings(deadline=None)
@given(calendar=calendars(), start=MOMENTS, span=SPANS)
def test_what_add_adds_is_between(calendar: Calendar, start: datetime, span: timedelta) -> None:
    end = calendar.add(start, span)
    assert end >= start.astimezone(UTC)
    assert calendar.between(start, end) == span


@settings(deadline=None)
@given(calendar=calendars(), start=MOMENTS, spans=st.tuples(SPANS, SPANS), delay=SPANS)
def test_more_time_and_a_later_start_never_end_earlier(
    calendar: Calendar, start: datetime, spans: tuple[timedelta, timedelta], delay: timedelta
) -> None:
    less, more = sorted(spans)
    assert calendar.add(start, less) <= calendar.add(start, more)
    later = start.astimezone(UTC) + delay
    assert calendar.add(start, less) <= calendar.add(later, less)


@settings(deadline=None)
@given(calendar=calendars(), start=MOMENTS)
def test_a_span_of_nothing_ends_open(calendar: Calendar, start: datetime) -> None:
    end = calendar.add(start, timedelta())
    assert calendar.is_open(end)
    assert end == start.astimezone(UTC) or not calendar.is_open(start)


@settings(deadline=None, max_examples=60)
@given(calendar=calendars(), day=CHANGES, minutes=st.integers(1, 2 * 24 * 60))
def test_a_naive_clock_counts_the_same_minutes(calendar: Calendar, day: date, minutes: int) -> None:
    start = datetime.combine(day, time(0), UTC) - 24 * HOUR
    zone = ZoneInfo(calendar.timezone)
    plain = Calendar(days=calendar.days, holidays=calendar.holidays, closed=calendar.closed)

    def shows_open(at: datetime) -> bool:
        wall = at.astimezone(zone).replace(tzinfo=UTC)
        before_closing = calendar.closes is None or wall.time() < calendar.closes
        return plain.is_open(wall) and calendar.opens <= wall.time() and before_closing

    walls = [start + step * MINUTE for step in range(minutes)]
    counted = [at for at in walls if shows_open(at)]
    assert [at for at in walls if calendar.is_open(at)] == counted
    assert calendar.between(start, start + minutes * MINUTE) == len(counted) * MINUTE
    if counted:
        assert calendar.add(start, len(counted) * MINUTE) == counted[-1] + MINUTE


@given(start=MOMENTS, span=SPANS)
def test_round_the_clock_is_plain_addition(start: datetime, span: timedelta) -> None:
    begin = start.astimezone(UTC)
    assert ALWAYS.add(start, span) == begin + span
    assert ALWAYS.between(start, begin + span) == span
    assert ALWAYS.is_open(start)


# --- ends and refusals ------------------------------------------------------------------------


def test_a_span_of_years_arrives() -> None:
    start = berlin(1, 1)
    span = timedelta(days=3 * 365)
    end = BAVARIA.add(start, span)
    assert end.year == 2039
    assert BAVARIA.between(start, end) == span


@pytest.mark.parametrize(
    "never",
    [
        Calendar(days=frozenset()),
        Calendar("Europe/Berlin", time(17), time(9)),
        Calendar(
            days=frozenset({0}),
            closed=frozenset(date(2026, 1, 5) + timedelta(weeks=week) for week in range(1000)),
        ),
    ],
)
def test_a_calendar_that_never_opens_is_told(never: Calendar) -> None:
    with pytest.raises(ValueError, match="no open moment in the ten years after 2026-01-01"):
        never.add(berlin(1, 1, 12), HOUR)
    assert never.between(berlin(1, 1), berlin(12, 31)) == timedelta()


def test_a_closure_of_nine_years_is_waited_for() -> None:
    first = date(2026, 1, 1)
    closed = frozenset(first + timedelta(days=day) for day in range(9 * 365))
    end = Calendar(closed=closed).add(berlin(1, 1, 12), HOUR)
    assert end == datetime.combine(first + timedelta(days=9 * 365), time(1), UTC)


def test_a_moment_too_far_away_is_refused() -> None:
    mondays = Calendar(opens=time(9), closes=time(9, 1), days=frozenset({0}))
    with pytest.raises(ValueError, match="more than a hundred years from 2026-01-01"):
        mondays.add(berlin(1, 1, 12), timedelta(days=366))
    with pytest.raises(ValueError, match="past the year 9999"):
        ALWAYS.add(berlin(1, 1), timedelta(days=3_000_000))
    with pytest.raises(ValueError, match="past the year 9999"):
        mondays.add(datetime(9999, 12, 31, 12, tzinfo=UTC), HOUR)


def test_a_negative_span_and_a_naive_moment_are_refused() -> None:
    naive = datetime(2026, 1, 16, 12)  # noqa: DTZ001 - meant
    with pytest.raises(ValueError, match="negative"):
        OFFICE.add(berlin(1, 16, 12), -MINUTE)
    with pytest.raises(ValueError, match="no time zone"):
        ALWAYS.add(naive, HOUR)
    with pytest.raises(ValueError, match="no time zone"):
        ALWAYS.is_open(naive)
    with pytest.raises(ValueError, match="no time zone"):
        ALWAYS.between(berlin(1, 1), naive)


@pytest.mark.parametrize(
    ("calendar", "words"),
    [
        (Calendar("Europe/Berln"), '"Europe/Berln" (did you mean "Europe/Berlin"?)'),
        (Calendar("europe/berlin"), 'did you mean "Europe/Berlin"?'),
        (Calendar("Europe"), 'unknown time zone "Europe"'),
        (Calendar("../etc/passwd"), "unknown time zone"),
        (Calendar(""), "write one such as Europe/Berlin"),
        (Calendar("x" * 5000), "write one such as Europe/Berlin"),
        (Calendar(holidays="de"), '"de" (did you mean "DE"?)'),
        (Calendar(holidays="Q9"), "write a country code such as DE"),
        (Calendar(holidays="DE-by"), 'the part "by" of DE (did you mean "BY"?)'),
        (Calendar(holidays="DE-QQ"), "known: BB, BE, BW, BY"),
        (Calendar(holidays="DE-"), "known: BB, BE, BW, BY"),
        (Calendar(holidays="AF-1"), "write AF alone"),
        (Calendar(opens=time(17), closes=time(9)), "opens at 17:00 and closes at 09:00"),
        (Calendar(opens=time(9), closes=time(9)), "opening must come first"),
        (Calendar(opens=time(9), closes=time(0)), "the end of the day is 24:00"),
        (Calendar(days=frozenset()), "no day is open"),
        (Calendar(days=frozenset({7})), "7 is not a day"),
    ],
)
def test_a_problem_says_what_to_write_instead(calendar: Calendar, words: str) -> None:
    assert words in (problem(calendar) or "")
    with pytest.raises(ValueError):
        calendar.check()


@pytest.mark.parametrize("calendar", [ALWAYS, OFFICE, BAVARIA, Calendar(holidays="US-CA")])
def test_a_good_calendar_has_no_problem(calendar: Calendar) -> None:
    assert problem(calendar) is None


@pytest.mark.parametrize("calendar", [Calendar("Mars/Base"), Calendar(holidays="Q9")])
def test_an_unchecked_calendar_still_fails_with_words(calendar: Calendar) -> None:
    with pytest.raises(ValueError, match=r"unknown time zone|no holidays known"):
        calendar.is_open(berlin(1, 16))


# --- as written -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("09:00-17:00", (time(9), time(17))),
        ("9-17", (time(9), time(17))),
        (" 9:30 – 18 ", (time(9, 30), time(18))),
        ("00:00-24:00", (time(0), None)),
        ("0-24", (time(0), None)),
        ("22-6", (time(22), time(6))),
    ],
)
def test_hours_as_people_write_them(text: str, expected: tuple[time, time | None]) -> None:
    assert parse_hours(text) == expected


@pytest.mark.parametrize(
    "text", ["", "9", "9-", "9-25", "24-9", "9:60-17", "9-24:30", "9am-5pm", "9-17-18", "٩-١٧"]
)
def test_other_hours_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="such as 09:00-17:00"):
        parse_hours(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mon-fri", {0, 1, 2, 3, 4}),
        ("mon,wed,fri", {0, 2, 4}),
        ("sat-sun", {5, 6}),
        ("mon-sun", {0, 1, 2, 3, 4, 5, 6}),
        ("sun-sat", {0, 1, 2, 3, 4, 5, 6}),
        ("fri-mon", {0, 4, 5, 6}),
        ("tue", {1}),
        ("Monday - Wednesday, SAT", {0, 1, 2, 5}),
    ],
)
def test_days_as_people_write_them(text: str, expected: set[int]) -> None:
    assert parse_days(text) == expected


@pytest.mark.parametrize("text", ["", "mon-", "-fri", "mon,,fri", "mon-wed-fri", "mo-fr", "0-4"])
def test_other_days_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="such as mon-fri"):
        parse_days(text)
