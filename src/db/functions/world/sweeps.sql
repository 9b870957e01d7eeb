-- What a sweep moves never changes, what it spends is reserved once, its state only moves forward, and nothing is deleted.
CREATE OR REPLACE FUNCTION sweep_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'sweep % never changes, but for its state, which moves forward, and its nonces, which are reserved once', OLD.id;
END $$;
CREATE OR REPLACE TRIGGER sweeps_stay
  BEFORE UPDATE OF id, network, address, address_index, amount, wallet, gas_account, cost_most, created_at ON sweeps
  FOR EACH ROW EXECUTE FUNCTION sweep_stays();
CREATE OR REPLACE TRIGGER sweeps_kept BEFORE DELETE ON sweeps FOR EACH ROW EXECUTE FUNCTION sweep_stays();
CREATE OR REPLACE TRIGGER sweeps_reserved_once BEFORE UPDATE OF fund_nonce, fund_wei, nonce ON sweeps FOR EACH ROW
  WHEN ((OLD.fund_nonce IS NOT NULL AND (OLD.fund_nonce, OLD.fund_wei) IS DISTINCT FROM (NEW.fund_nonce, NEW.fund_wei))
    OR (OLD.nonce IS NOT NULL AND OLD.nonce IS DISTINCT FROM NEW.nonce))
  EXECUTE FUNCTION sweep_stays();
CREATE OR REPLACE TRIGGER sweeps_move_forward BEFORE UPDATE ON sweeps FOR EACH ROW
  WHEN (OLD.ended_at IS NOT NULL OR array_position(ARRAY['funding', 'sweeping', 'mined', 'swept', 'failed'], NEW.state)
    < array_position(ARRAY['funding', 'sweeping', 'mined', 'swept', 'failed'], OLD.state))
  EXECUTE FUNCTION sweep_stays();

CREATE OR REPLACE FUNCTION sweep_transaction_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'transaction % of sweep % never changes, and its block is written once', OLD.tx_hash, OLD.sweep_id;
END $$;
CREATE OR REPLACE TRIGGER sweep_transactions_stay
  BEFORE UPDATE OF sweep_id, purpose, attempt, network, sender, nonce, tx_hash, signed, terms, created_at ON sweep_transactions
  FOR EACH ROW EXECUTE FUNCTION sweep_transaction_stays();
CREATE OR REPLACE TRIGGER sweep_transactions_mined_once BEFORE UPDATE ON sweep_transactions FOR EACH ROW
  WHEN (OLD.block_hash IS NOT NULL) EXECUTE FUNCTION sweep_transaction_stays();
CREATE OR REPLACE TRIGGER sweep_transactions_kept BEFORE DELETE ON sweep_transactions
  FOR EACH ROW EXECUTE FUNCTION sweep_transaction_stays();

-- A transaction spends what its sweep has reserved, and attempts have no gap: of all attempts of one purpose at most one is mined.
CREATE OR REPLACE FUNCTION sweep_transaction_fits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM sweeps s WHERE s.id = NEW.sweep_id AND s.network = NEW.network AND s.ended_at IS NULL
      AND CASE NEW.purpose WHEN 'fund' THEN (s.gas_account, s.fund_nonce) ELSE (s.address, s.nonce) END = (NEW.sender, NEW.nonce))
    OR NEW.attempt > 1 AND NOT EXISTS (SELECT FROM sweep_transactions t
      WHERE t.sweep_id = NEW.sweep_id AND t.purpose = NEW.purpose AND t.attempt = NEW.attempt - 1)
  THEN
    RAISE EXCEPTION 'transaction % does not spend what sweep % has reserved', NEW.tx_hash, NEW.sweep_id;
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER sweep_transactions_fit BEFORE INSERT ON sweep_transactions
  FOR EACH ROW EXECUTE FUNCTION sweep_transaction_fits();
