-- Departures per airport, airline and day. `events` are the flights; event_time is when they should leave.
-- A day begins at 05:00 UTC, which is midnight in New York's winter. A flight that did not leave has
-- the delay NA, and so no number: count() and avg() leave it out.
SELECT
  date_format(window.start, 'yyyy-MM-dd') AS day,
  origin,
  carrier,
  count(*) AS flights,
  count(*) - count(try_cast(dep_delay AS INT)) AS cancelled,
  avg(try_cast(dep_delay AS INT)) AS mean_delay_min
FROM events
GROUP BY window(event_time, '1 day', '1 day', '5 hours'), origin, carrier
