-- additive
-- The order of the log is told by the events themselves. What moves money gives its events their positions in its own
-- transaction; other events wait for theirs until they are committed. See decision 0072.
ALTER TABLE events
  ADD COLUMN position bigint,
  -- Placed more than two seconds after its own time. Null: it was not.
  ADD COLUMN late boolean;

-- Positions are microseconds since 1970, or one more than the last one where that is higher.
CREATE SEQUENCE event_log;

-- Empty, and so it stays: whoever gives positions locks it. An advisory lock could be taken by other schemas too.
CREATE TABLE log_turn (nothing boolean);

-- For positions of before, which were counted from one: at each of these all events were of this time, or of an earlier one.
CREATE TABLE log_times (
  position bigint PRIMARY KEY,
  reached timestamptz(3) NOT NULL
);
CREATE INDEX log_times_reached ON log_times (reached, position);
