-- additive
ALTER TABLE payouts ADD COLUMN IF NOT EXISTS accepted_at timestamptz;
