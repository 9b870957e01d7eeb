-- additive
-- What the audit needs beyond the books themselves: references that exist once, the order in which trades were folded,
-- how far the log of events was forgotten, and how far the audit in the background has come.

SELECT set_config('search_path', current_schema() || ', pg_temp', true);

-- What the outside calls one payment is the name of one payment here. An operator may have typed one twice before this
-- was refused: then the service starts all the same, with a plain index, and the audit names both.
DO $$
DECLARE wanted record;
BEGIN
  FOR wanted IN SELECT * FROM (VALUES
    ('payouts_end_to_end_id', 'payouts (end_to_end_id) WHERE end_to_end_id IS NOT NULL'),
    ('transfers_tx_hash', 'transfers (network, tx_hash) WHERE tx_hash IS NOT NULL'),
    ('deposits_reference', 'deposits (rail, reference) WHERE reference IS NOT NULL'),
    ('fee_payouts_reference', 'fee_payouts (reference)')) AS list (name, what)
  LOOP
    BEGIN
      EXECUTE format('CREATE UNIQUE INDEX %I ON %s', wanted.name, wanted.what);
    EXCEPTION WHEN unique_violation THEN
      EXECUTE format('CREATE INDEX %I ON %s', wanted.name, wanted.what);
      RAISE WARNING '% is not unique: trilho audit names the rows', wanted.what;
    END;
  END LOOP;
END $$;

-- What was done by hand is looked for among the proposals by its reference.
CREATE INDEX proposals_reference ON proposals ((details ->> 'reference'));

-- Events that were forgotten by forget_events, up to when they had been written: younger ones must be there. Removed in
-- any other way, they are missed.
CREATE TABLE event_horizon (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  forgotten_until timestamptz(3) NOT NULL
);
-- The newest event that is not there, of all that there must have been: of an end, the time of that end.
INSERT INTO event_horizon (forgotten_until)
SELECT coalesce(max(at), '-infinity') FROM (
  SELECT id, 1 AS sequence, created_at AS at FROM deposits
  UNION ALL SELECT id, 1, created_at FROM trades
  UNION ALL SELECT id, n, CASE WHEN n = sequence THEN coalesce(completed_at, created_at) ELSE created_at END
    FROM payouts, generate_series(1, sequence) AS n
  UNION ALL SELECT id, n, CASE WHEN n = sequence THEN coalesce(completed_at, created_at) ELSE created_at END
    FROM transfers, generate_series(1, sequence) AS n) AS told
WHERE at < now() - interval '1 day'
  AND NOT EXISTS (SELECT FROM events e WHERE e.object_id = told.id AND e.sequence = told.sequence);

CREATE FUNCTION note_forgotten_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE callers text;
BEGIN
  GET DIAGNOSTICS callers = PG_CONTEXT;
  IF callers LIKE '%forget_events(%' THEN
    UPDATE event_horizon SET forgotten_until = newest.at
    FROM (SELECT max(created_at) AS at FROM gone) AS newest WHERE newest.at > forgotten_until;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER note_forgotten_events AFTER DELETE ON events REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_forgotten_events();

-- Average cost depends on the order of trades. Whoever folds takes them out of `unfolded`, in the order of their ids: so
-- this writes down what was folded when, whichever version of the service does it.
CREATE TABLE folds (
  n bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  trade_ids text[] NOT NULL,
  folded_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

CREATE FUNCTION note_fold() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO folds (trade_ids) SELECT array_agg(trade_id ORDER BY trade_id) FROM gone HAVING count(*) > 0;
  RETURN NULL;
END $$;

-- Nobody folds, and nobody is paid fees, between the snapshot and the first fold that is written down.
LOCK TABLE unfolded, positions IN SHARE ROW EXCLUSIVE MODE;
CREATE TRIGGER note_fold AFTER DELETE ON unfolded REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_fold();

-- A trade that is younger than this was folded under these eyes, or waits to be.
CREATE TABLE fold_start (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  at timestamptz(3) NOT NULL
);
INSERT INTO fold_start (at) VALUES (clock_timestamp());
-- By trade. Written at once and not put off: a list of what is still to be indexed would be read for every trade.
CREATE INDEX folds_of_trade ON folds USING gin (trade_ids) WITH (fastupdate = off);

-- The sums as they were before, and what had been paid out of them: what the folds add to.
CREATE TABLE fold_base AS
SELECT p.id, p.account, p.owner, p.asset, p.amount, p.cost, p.realised,
  coalesce((SELECT sum(f.amount) FROM fee_payouts f
    WHERE p.account = 'partner_fees' AND (f.partner_id, f.asset) = (p.owner, p.asset)), 0)::numeric(40, 0) AS paid
FROM positions p;
ALTER TABLE fold_base ADD PRIMARY KEY (id), ALTER amount SET NOT NULL, ALTER cost SET NOT NULL,
  ALTER realised SET NOT NULL, ALTER paid SET NOT NULL;

-- One row: where the pass that runs is, whose turn it is, and how the last whole pass ended.
CREATE TABLE audit_progress (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  node text,
  leased_until timestamptz(3) NOT NULL,
  -- Null between two passes.
  started_at timestamptz(3),
  stage text,
  position json,
  findings integer NOT NULL DEFAULT 0,
  last_started_at timestamptz(3),
  last_finished_at timestamptz(3),
  last_findings integer,
  CHECK ((started_at IS NULL) = (stage IS NULL)),
  CHECK ((last_finished_at IS NULL) = (last_started_at IS NULL) AND (last_finished_at IS NULL) = (last_findings IS NULL))
);
INSERT INTO audit_progress (leased_until) VALUES ('-infinity');
