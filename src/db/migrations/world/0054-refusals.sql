-- additive
-- A refusal (422) that counts for 24 hours leaves a claim and nothing else: without its claim nothing would tell that there was
-- one, and the same key could make a payment. A trigger writes it down here as well; the roles of the service can only read
-- this table, and the audit compares it with the claims (decision 0098).
SELECT set_config('search_path', current_schema() || ', pg_temp', true);

CREATE TABLE refusals (
  scope text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  -- Of the request's fingerprint and of the response.
  digest bytea NOT NULL,
  PRIMARY KEY (scope, operation, key)
);
CREATE INDEX refusals_expire ON refusals (expires_at);

-- As in functions/: stated here too, so that no refusal is left out in between.
CREATE FUNCTION refusal_digest(fingerprint text, answer_status smallint, answer_body text) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(convert_to(concat_ws(' ', fingerprint, answer_status::text, answer_body), 'UTF8'))
$$;
CREATE FUNCTION note_refusal() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM refusals WHERE (scope, operation, key) = (NEW.scope, NEW.operation, NEW.key) AND expires_at <= clock_timestamp();
  IF NEW.resource_id IS NULL THEN
    INSERT INTO refusals VALUES (NEW.scope, NEW.operation, NEW.key, NEW.expires_at,
      refusal_digest(NEW.fingerprint, NEW.answer_status, NEW.answer_body)) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;

LOCK TABLE claims IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO refusals SELECT scope, operation, key, expires_at, refusal_digest(fingerprint, answer_status, answer_body)
FROM claims WHERE resource_id IS NULL AND expires_at > clock_timestamp();
CREATE TRIGGER note_new_refusal AFTER INSERT ON claims FOR EACH ROW
  WHEN (NEW.resource_id IS NULL AND NEW.expires_at IS NOT NULL) EXECUTE FUNCTION note_refusal();
CREATE TRIGGER note_refusal AFTER UPDATE ON claims FOR EACH ROW
  WHEN ((OLD.resource_id IS NULL OR NEW.resource_id IS NULL) AND NEW.expires_at IS NOT NULL) EXECUTE FUNCTION note_refusal();
