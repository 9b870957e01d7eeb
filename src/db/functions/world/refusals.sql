-- A refusal leaves a claim and no resource. So every unexpired refusal is stored again in "refusals", which the service's roles cannot
-- change (decision 0029), and stays as it was first written, whatever becomes of the claim.
CREATE OR REPLACE FUNCTION refusal_digest(fingerprint text, answer_status smallint, answer_body text) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(convert_to(concat_ws(' ', fingerprint, answer_status::text, answer_body), 'UTF8'))
$$;
CREATE OR REPLACE FUNCTION note_refusal() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM refusals WHERE (scope, operation, key) = (NEW.scope, NEW.operation, NEW.key) AND expires_at <= clock_timestamp();
  IF NEW.resource_id IS NULL THEN
    INSERT INTO refusals VALUES (NEW.scope, NEW.operation, NEW.key, NEW.expires_at,
      refusal_digest(NEW.fingerprint, NEW.answer_status, NEW.answer_body)) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_new_refusal AFTER INSERT ON claims FOR EACH ROW
  WHEN (NEW.resource_id IS NULL AND NEW.expires_at IS NOT NULL) EXECUTE FUNCTION note_refusal();
CREATE OR REPLACE TRIGGER note_refusal AFTER UPDATE ON claims FOR EACH ROW
  WHEN ((OLD.resource_id IS NULL OR NEW.resource_id IS NULL) AND NEW.expires_at IS NOT NULL) EXECUTE FUNCTION note_refusal();
