-- What an output is never changes, and a transfer reserves it for good: all transactions of the transfer spend it.
CREATE OR REPLACE FUNCTION coin_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'coin % never changes, and is reserved once', OLD.id;
END $$;
CREATE OR REPLACE TRIGGER coins_stay BEFORE UPDATE OF id, network, wallet_id, script, amount, is_coinbase, made_by ON coins
  FOR EACH ROW EXECUTE FUNCTION coin_stays();
CREATE OR REPLACE TRIGGER coins_reserved_once BEFORE UPDATE OF reserved_by ON coins
  FOR EACH ROW WHEN (OLD.reserved_by IS NOT NULL AND OLD.reserved_by IS DISTINCT FROM NEW.reserved_by)
  EXECUTE FUNCTION coin_stays();
