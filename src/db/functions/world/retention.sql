-- Removing old rows. The roles of the service have no right to delete history: they call these functions, and name a time.
-- Each function keeps to the retention of its rows, whatever time the caller names: a role that was broken into removes
-- nothing that housekeeping would not have removed (decision 0030).

-- For how many days rows of a kind are kept: the figure that the owner stated, and never fewer than here. Null: no such kind.
CREATE OR REPLACE FUNCTION kept_days(kind text) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT CASE kind WHEN 'proofs' THEN 365 WHEN 'sums of days' THEN 400 WHEN 'sums of hours' THEN 3 ELSE greatest(
    CASE kind WHEN 'events' THEN 30 WHEN 'deliveries' THEN 7 WHEN 'requests' THEN 7 WHEN 'quotes' THEN 1 END,
    (SELECT days FROM retention WHERE what = kind)) END
$$;

-- The time up to which rows of a kind may be removed, when a caller asks for `wanted`. Null: none.
CREATE OR REPLACE FUNCTION removable_before(kind text, wanted timestamptz) RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
  SELECT CASE WHEN wanted IS NOT NULL AND kept_days(kind) IS NOT NULL
    THEN least(wanted, clock_timestamp() - make_interval(days => kept_days(kind))) END
$$;

-- What ids of a moment begin with behind their prefix, as timeOfId in core/ids.ts: milliseconds in ten digits of base 32.
CREATE OR REPLACE FUNCTION time_of_id(at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', (floor(extract(epoch FROM at) * 1000)::bigint >> (5 * n) & 31)::integer + 1, 1), ''
    ORDER BY n DESC) FROM generate_series(0, 9) AS n
$$;

-- Removes claims that have been free for two days, or since before `older_than` if that is earlier; up to `most`, and as many
-- refusals of that age. Returns how many claims. Passes over rows that are locked, and waits for nobody.
CREATE OR REPLACE FUNCTION forget_claims(older_than timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE gone integer;
BEGIN
  DELETE FROM claims WHERE (scope, operation, key) IN (
    SELECT scope, operation, key FROM claims c
    WHERE older_than IS NOT NULL AND expires_at < least(older_than, clock_timestamp() - interval '2 days')
      AND (final OR EXISTS (SELECT FROM ended_orders(ARRAY[c.resource_id])))
    ORDER BY expires_at LIMIT most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS gone = ROW_COUNT;
  DELETE FROM refusals WHERE (scope, operation, key) IN (
    SELECT scope, operation, key FROM refusals
    WHERE older_than IS NOT NULL AND expires_at < least(older_than, clock_timestamp() - interval '2 days')
    ORDER BY expires_at LIMIT most FOR UPDATE SKIP LOCKED);
  RETURN gone;
END $$;

-- Quotes that ended before that time and were never executed. An id begins with the time of its making, and an old quote
-- never changes any more, so each is judged once. Returns how many were; fewer than `most` means that the rest is younger.
CREATE OR REPLACE FUNCTION forget_quotes(older_than timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  horizon timestamptz := removable_before('quotes', older_than);
  mark text := coalesce((SELECT up_to FROM forgotten WHERE what = 'quotes'), '');
  seen text;
  total integer;
BEGIN
  WITH looked AS MATERIALIZED (
    SELECT id, trade_id, coalesce(expires_at >= horizon, true) AS young FROM quotes WHERE id > mark ORDER BY id LIMIT most
  ), first_young AS MATERIALIZED (
    SELECT min(id) AS id FROM looked WHERE young
  ), judged AS MATERIALIZED (
    SELECT l.id, l.trade_id FROM looked l, first_young f WHERE f.id IS NULL OR l.id < f.id
  ), gone AS (
    DELETE FROM quotes q USING judged j WHERE q.id = j.id AND j.trade_id IS NULL AND q.trade_id IS NULL
  )
  SELECT max(judged.id), count(*) INTO seen, total FROM judged;
  IF seen IS NOT NULL THEN
    INSERT INTO forgotten (what, up_to) VALUES ('quotes', seen)
    ON CONFLICT (what) DO UPDATE SET up_to = greatest(forgotten.up_to, excluded.up_to);
  END IF;
  RETURN total;
END $$;

-- Removes requests whose id is lower than `below`, up to `most`; returns how many. An id begins with its time.
CREATE OR REPLACE FUNCTION forget_requests(below text, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  horizon text := 'req_' || time_of_id(removable_before('requests', 'infinity'));
  gone integer;
BEGIN
  DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE id < below AND id < horizon ORDER BY id LIMIT most);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $$;

-- Removes the steps of payouts and transfers that were made before, up to `most` of each; returns how many. Open payouts and
-- transfers keep theirs. `before` is the time that an id begins with. Steps are kept for as long as events.
CREATE OR REPLACE FUNCTION forget_steps(before text, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  horizon text := time_of_id(removable_before('events', 'infinity'));
  gone integer;
BEGIN
  DELETE FROM steps s USING (
    (SELECT object_id, n FROM steps WHERE object_id >= 'po_' AND object_id < 'po_' || before AND object_id < 'po_' || horizon
       AND NOT EXISTS (SELECT FROM payouts p WHERE p.id = object_id AND p.status IN ('pending', 'processing')) LIMIT most)
    UNION ALL
    (SELECT object_id, n FROM steps WHERE object_id >= 'tr_' AND object_id < 'tr_' || before AND object_id < 'tr_' || horizon
       AND NOT EXISTS (SELECT FROM transfers t WHERE t.id = object_id AND t.status IN ('pending', 'processing')) LIMIT most)
  ) AS old WHERE (s.object_id, s.n) = (old.object_id, old.n);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $$;

-- Removes sums of days and of hours that are older. They are few: a partner has some for each day.
CREATE OR REPLACE FUNCTION forget_sums(days_before timestamptz, hours_before timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  DELETE FROM daily WHERE day < (removable_before('sums of days', days_before) AT TIME ZONE 'America/Sao_Paulo')::date;
  DELETE FROM daily_balances WHERE day < (removable_before('sums of days', days_before) AT TIME ZONE 'America/Sao_Paulo')::date;
  DELETE FROM hourly WHERE hour < removable_before('sums of hours', hours_before);
$$;

-- Removes proofs that ended before; one an hour is made.
CREATE OR REPLACE FUNCTION forget_proofs(older_than timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE horizon timestamptz := removable_before('proofs', older_than);
BEGIN
  DELETE FROM proofs WHERE finished_at < horizon;
END $$;
