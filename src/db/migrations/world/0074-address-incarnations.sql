-- additive
-- Which incarnation of the database handed the address out: its system identifier and its timeline. A restore and a fail-over make
-- another one. Null: before this was stored.
ALTER TABLE deposit_addresses ADD COLUMN made_in text;
