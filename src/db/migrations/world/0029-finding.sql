-- additive
-- A customer is found by the beginning of its name, however it is spelt in capitals. Names change seldom, and no money
-- waits for them.
CREATE INDEX customers_by_name ON customers (partner_id, lower(name) text_pattern_ops);

-- The playground of the console acts under a key of its own, one for each partner, whose value nobody has.
ALTER TABLE api_keys ADD COLUMN made_for text CHECK (made_for IN ('playground'));
CREATE UNIQUE INDEX api_keys_playground ON api_keys (partner_id) WHERE made_for = 'playground' AND revoked_at IS NULL;
