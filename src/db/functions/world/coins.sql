-- What an output is never changes, and a transfer reserves it for good: all transactions of the transfer spend it.
CREATE OR REPLACE FUNCTION coin_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'coin % never changes, and is reserved once', OLD.id;
END $$;
CREATE OR REPLACE TRIGGER coins_stay BEFORE UPDATE OF id, network, wallet_id, script, amount, is_coinbase, made_by, address_index ON coins
  FOR EACH ROW EXECUTE FUNCTION coin_stays();
CREATE OR REPLACE TRIGGER coins_reserved_once BEFORE UPDATE OF reserved_by ON coins
  FOR EACH ROW WHEN (OLD.reserved_by IS NOT NULL AND OLD.reserved_by IS DISTINCT FROM NEW.reserved_by)
  EXECUTE FUNCTION coin_stays();

-- A version that does not look for deposits would pass over the money of customers for good: each block is read once.
CREATE OR REPLACE FUNCTION block_is_searched() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM deposit_addresses WHERE network = NEW.network) THEN
    RAISE EXCEPTION 'customers have deposit addresses on %: only a version that looks for deposits may store its blocks', NEW.network;
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER blocks_searched BEFORE INSERT ON blocks
  FOR EACH ROW WHEN (NOT NEW.is_searched) EXECUTE FUNCTION block_is_searched();
