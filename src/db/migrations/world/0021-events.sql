-- additive
-- Objects that tell more than that they were made count what they told: the number of the last event about them. The
-- version before writes none of these columns, and tells of none of these changes.
ALTER TABLE customers ADD COLUMN sequence integer NOT NULL DEFAULT 1;
ALTER TABLE api_keys ADD COLUMN sequence integer NOT NULL DEFAULT 1;
-- Payments of fees that were made before told nothing.
ALTER TABLE fee_payouts ADD COLUMN sequence integer NOT NULL DEFAULT 0;
