-- additive
-- Whatever may be wrong with money and needs a person: never a log line. One row while it is open, however often it is
-- seen; closed by an operator with a reason, or by the service once what it told of has come to its end.
CREATE TABLE exceptions (
  id text PRIMARY KEY,
  kind text NOT NULL,
  -- Where it happened: pix, a network, or empty when no rail plays a part.
  rail text NOT NULL,
  object_id text NOT NULL,
  -- Null when it belongs to no partner.
  partner_id text,
  details json NOT NULL,
  opened_at timestamptz(3) NOT NULL,
  closed_at timestamptz(3),
  closed_by text,
  closed_reason text,
  CHECK ((closed_at IS NULL) = (closed_by IS NULL) AND (closed_at IS NULL) = (closed_reason IS NULL))
);
CREATE UNIQUE INDEX exceptions_open ON exceptions (kind, object_id) WHERE closed_at IS NULL;
CREATE INDEX exceptions_newest ON exceptions (opened_at DESC, id DESC);

-- What was seen never changes, and what is closed stays closed.
CREATE FUNCTION exceptions_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'exception % never changes, but for its closing', OLD.id;
END $$;
CREATE TRIGGER exceptions_seen_stays BEFORE UPDATE OF id, kind, rail, object_id, partner_id, details, opened_at ON exceptions
  FOR EACH ROW EXECUTE FUNCTION exceptions_stay();
CREATE TRIGGER exceptions_closed_once BEFORE UPDATE ON exceptions
  FOR EACH ROW WHEN (OLD.closed_at IS NOT NULL) EXECUTE FUNCTION exceptions_stay();
