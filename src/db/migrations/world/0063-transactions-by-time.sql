-- additive
-- What was signed within the last hour counts towards the limits of a signer that starts. Rows are added in the order of time.
CREATE INDEX transactions_signed_at ON transactions USING brin (created_at);
