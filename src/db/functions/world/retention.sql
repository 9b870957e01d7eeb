-- Claims, quotes and requests that are old and owed to nobody. The service itself may remove none.

-- Forgets names that have been free since before that time, up to `most`; returns how many. Passes over a claim that
-- somebody holds, and waits for nobody.
CREATE OR REPLACE FUNCTION forget_claims(older_than timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE gone integer;
BEGIN
  DELETE FROM claims WHERE (scope, operation, key) IN (
    SELECT scope, operation, key FROM claims WHERE final AND expires_at < older_than
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
    SELECT id, trade_id, expires_at >= older_than AS young FROM quotes WHERE id > mark ORDER BY id LIMIT most
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
