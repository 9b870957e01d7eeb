-- additive
-- The wallets that pay transfers. Whoever reserves a nonce locks the row and takes `next_nonce`.
CREATE TABLE wallets (
  -- Network and address.
  id text PRIMARY KEY,
  network text NOT NULL,
  address text NOT NULL,
  -- Of the transaction before which the service paid nothing from this wallet.
  first_nonce bigint NOT NULL CHECK (first_nonce >= 0),
  next_nonce bigint NOT NULL CHECK (next_nonce >= first_nonce),
  created_at timestamptz(3) NOT NULL
);

-- What a transfer spends: set once, before anything is signed for it.
ALTER TABLE transfers ADD COLUMN wallet_id text;
ALTER TABLE transfers ADD COLUMN nonce bigint;
ALTER TABLE transfers ADD CONSTRAINT transfers_reserved CHECK ((wallet_id IS NULL) = (nonce IS NULL));

-- The transactions that were signed for transfers, each stored before it is broadcast. All of one transfer spend its nonce.
CREATE TABLE transactions (
  transfer_id text NOT NULL,
  attempt integer NOT NULL CHECK (attempt > 0),
  network text NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('pay', 'cancel')),
  tx_hash text NOT NULL,
  signed text NOT NULL,
  terms json NOT NULL,
  created_at timestamptz(3) NOT NULL,
  -- The block that is deep enough to be final.
  block_height bigint,
  block_hash text,
  PRIMARY KEY (transfer_id, attempt),
  CONSTRAINT transactions_block CHECK ((block_height IS NULL) = (block_hash IS NULL))
);

-- Transfers that were signed before: one transaction each, in the order of their signatures.
UPDATE transfers t SET wallet_id = n.network || ':simulated', nonce = n.nonce
FROM (SELECT id, network, row_number() OVER (PARTITION BY network ORDER BY created_at, id) - 1 AS nonce
      FROM transfers WHERE tx_hash IS NOT NULL) AS n WHERE n.id = t.id;
INSERT INTO transactions (transfer_id, attempt, network, purpose, tx_hash, signed, terms, created_at)
SELECT id, 1, network, 'pay', tx_hash, signed_transaction, '{}', created_at FROM transfers WHERE tx_hash IS NOT NULL;
INSERT INTO wallets (id, network, address, first_nonce, next_nonce, created_at)
SELECT wallet_id, network, 'simulated', 0, max(nonce) + 1, min(created_at) FROM transfers WHERE nonce IS NOT NULL GROUP BY wallet_id, network;

CREATE UNIQUE INDEX transfers_nonce ON transfers (wallet_id, nonce) WHERE nonce IS NOT NULL;
CREATE UNIQUE INDEX transactions_tx_hash ON transactions (network, tx_hash);
-- A replacement gives a transfer another hash; the triggers in orders.sql say which ones it may have.
DROP TRIGGER IF EXISTS transfers_signed_once ON transfers;

-- As in orders.sql, which is installed later, in a transaction of its own. Nodes of the version before sign meanwhile, and a
-- transfer that is signed without a nonce could not be followed by this version.
CREATE FUNCTION reserve_for_older() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  NEW.wallet_id := NEW.network || ':simulated';
  INSERT INTO wallets AS w (id, network, address, first_nonce, next_nonce, created_at) VALUES (NEW.wallet_id, NEW.network, 'simulated', 0, 1, NEW.created_at)
    ON CONFLICT (id) DO UPDATE SET next_nonce = w.next_nonce + 1 RETURNING next_nonce - 1 INTO NEW.nonce;
  INSERT INTO transactions (transfer_id, attempt, network, purpose, tx_hash, signed, terms, created_at)
    VALUES (NEW.id, 1, NEW.network, 'pay', NEW.tx_hash, NEW.signed_transaction, '{}', now());
  RETURN NEW;
END $$;
CREATE TRIGGER transfers_reserve_for_older BEFORE UPDATE OF tx_hash ON transfers
  FOR EACH ROW WHEN (OLD.tx_hash IS NULL AND NEW.tx_hash IS NOT NULL AND NEW.nonce IS NULL)
  EXECUTE FUNCTION reserve_for_older();

-- The checks of the version before know one transaction per transfer, and would report a replaced one.
UPDATE audit_progress SET edition = 2;
