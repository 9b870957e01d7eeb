-- additive
-- For how many days old rows are kept, as the owner of the database stated it at the last start. The functions that remove
-- old rows go by these figures; the roles of the service can only read them (decision 0097).
CREATE TABLE retention (
  what text PRIMARY KEY CHECK (what IN ('events', 'deliveries', 'quotes', 'requests')),
  -- Null: not stated yet.
  days integer CHECK (days > 0),
  -- Rows up to this time may have been removed under an earlier, shorter figure.
  reached timestamptz(3) NOT NULL DEFAULT '-infinity'
);

-- Before this file the figure of a node was obeyed as it was; the shortest possible figure was one day.
INSERT INTO retention (what, reached)
SELECT 'events', least(forgotten_until, clock_timestamp() - interval '1 day') FROM event_horizon;
