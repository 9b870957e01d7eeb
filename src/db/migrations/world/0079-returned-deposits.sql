-- additive
-- The sum of what was given back of the deposit and debited. Not validated: every row of before is zero.
ALTER TABLE deposits ADD COLUMN amount_returned bigint NOT NULL DEFAULT 0;
ALTER TABLE deposits ADD CONSTRAINT deposits_amount_returned CHECK (amount_returned BETWEEN 0 AND amount) NOT VALID;

-- What was given back of a payment that was never credited, as the provider says.
ALTER TABLE pix_received ADD COLUMN amount_returned bigint NOT NULL DEFAULT 0;

-- A comparison with the account of a Pix provider is at no block.
ALTER TABLE reconciliations ALTER COLUMN block_height DROP NOT NULL, ALTER COLUMN block_hash DROP NOT NULL;

-- What the ledger has on the rail pix is compared with the account every few minutes.
CREATE INDEX entries_on_pix ON entries (account, asset) INCLUDE (amount) WHERE account = 'external:pix';
