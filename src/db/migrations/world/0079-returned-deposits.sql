-- additive
-- The sum of the deposit's returns that were debited. The constraint needs no validation: in every existing row the sum is zero.
ALTER TABLE deposits ADD COLUMN amount_returned bigint NOT NULL DEFAULT 0;
ALTER TABLE deposits ADD CONSTRAINT deposits_amount_returned CHECK (amount_returned BETWEEN 0 AND amount) NOT VALID;

-- The sum of the returns that the provider reports of a payment that was never credited.
ALTER TABLE pix_received ADD COLUMN amount_returned bigint NOT NULL DEFAULT 0;

-- A comparison with the account of a Pix provider is at no block.
ALTER TABLE reconciliations ALTER COLUMN block_height DROP NOT NULL, ALTER COLUMN block_hash DROP NOT NULL;

-- What the ledger has on the rail pix is compared with the account every few minutes.
CREATE INDEX entries_on_pix ON entries (account, asset) INCLUDE (amount) WHERE account = 'external:pix';
