-- What was seen never changes, and what is closed stays closed.
CREATE OR REPLACE FUNCTION exceptions_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'exception % never changes, but for its closing', OLD.id;
END $$;
CREATE OR REPLACE TRIGGER exceptions_seen_stays BEFORE UPDATE OF id, kind, rail, object_id, partner_id, details, opened_at ON exceptions
  FOR EACH ROW EXECUTE FUNCTION exceptions_stay();
CREATE OR REPLACE TRIGGER exceptions_closed_once BEFORE UPDATE ON exceptions
  FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL) EXECUTE FUNCTION exceptions_stay();
