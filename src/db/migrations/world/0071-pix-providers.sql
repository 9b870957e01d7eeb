-- additive
-- The account at a provider that the payout was handed to: only that account can tell what became of the payout. NULL for payouts that
-- an earlier version accepted.
ALTER TABLE payouts ADD COLUMN provider text;
-- When the provider first said, after the time for sending was over, that it never received the payout.
ALTER TABLE payouts ADD COLUMN absent_at timestamptz(3);
