-- Nothing that was signed fails on anybody's word but the chain's, and the chain speaks of what was broadcast. So what is
-- pending fails only while nothing was signed; whatever was signed passes through processing first.
CREATE FUNCTION signed_is_out() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% was signed: it cannot fail before the chain says so', OLD.id;
END $$;
CREATE TRIGGER transfers_signed_is_out BEFORE UPDATE OF status ON transfers
  FOR EACH ROW WHEN (OLD.status = 'pending' AND NEW.status = 'failed' AND (OLD.tx_hash IS NOT NULL OR NEW.tx_hash IS NOT NULL))
  EXECUTE FUNCTION signed_is_out();
