-- Claims, quotes, requests and the console's own records that are old and owed to nobody. The service itself may remove none.

-- Forgets names that have been free since before that time, up to `most`; returns how many. Passes over a claim that
-- somebody holds, and waits for nobody. Whatever time is said: a name that is not free yet guards a payment, and stays.
CREATE OR REPLACE FUNCTION forget_claims(older_than timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE gone integer;
BEGIN
  DELETE FROM claims WHERE (scope, operation, key) IN (
    SELECT scope, operation, key FROM claims c WHERE expires_at < least(older_than, clock_timestamp())
      AND (final OR EXISTS (SELECT FROM ended_orders(ARRAY[c.resource_id])))
    ORDER BY expires_at LIMIT most FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $$;

-- Quotes that ended before that time and were never executed. An id begins with the time of its making, and an old quote
-- never changes any more, so each is judged once. Returns how many were; fewer than `most` means that the rest is younger.
CREATE OR REPLACE FUNCTION forget_quotes(older_than timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  mark text := coalesce((SELECT up_to FROM forgotten WHERE what = 'quotes'), '');
  seen text;
  total integer;
BEGIN
  WITH looked AS MATERIALIZED (
    SELECT id, trade_id, expires_at >= least(older_than, clock_timestamp()) AS young FROM quotes WHERE id > mark ORDER BY id LIMIT most
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

-- Forgets requests whose id is lower than this one, up to `most`; returns how many. An id begins with its time.
CREATE OR REPLACE FUNCTION forget_requests(below text, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE gone integer;
BEGIN
  DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE id < below ORDER BY id LIMIT most);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $$;

-- Forgets the steps of payouts and transfers that were made before, up to `most` of each; returns how many. What is still on its way keeps its
-- own. `before` is the time that an id begins with.
CREATE OR REPLACE FUNCTION forget_steps(before text, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE gone integer;
BEGIN
  DELETE FROM steps s USING (
    (SELECT object_id, n FROM steps WHERE object_id >= 'po_' AND object_id < 'po_' || before
       AND NOT EXISTS (SELECT FROM payouts p WHERE p.id = object_id AND p.status IN ('pending', 'processing')) LIMIT most)
    UNION ALL
    (SELECT object_id, n FROM steps WHERE object_id >= 'tr_' AND object_id < 'tr_' || before
       AND NOT EXISTS (SELECT FROM transfers t WHERE t.id = object_id AND t.status IN ('pending', 'processing')) LIMIT most)
  ) AS old WHERE (s.object_id, s.n) = (old.object_id, old.n);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $$;

-- Forgets sums of days and of hours that are older. They are few: a partner has some for each day.
CREATE OR REPLACE FUNCTION forget_sums(days_before timestamptz, hours_before timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  DELETE FROM daily WHERE day < (days_before AT TIME ZONE 'America/Sao_Paulo')::date;
  DELETE FROM daily_balances WHERE day < (days_before AT TIME ZONE 'America/Sao_Paulo')::date;
  DELETE FROM hourly WHERE hour < hours_before;
$$;

-- Forgets proofs that ended before; one an hour is made.
CREATE OR REPLACE FUNCTION forget_proofs(older_than timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  DELETE FROM proofs WHERE finished_at < older_than;
$$;
