-- additive
-- How far the audit in the background has followed the log of events: what was proved as it happened is not proved again and
-- again, but for the slow pass over everything. Null: it begins at the end of the log.
ALTER TABLE audit_progress ADD COLUMN proved_upto bigint;
-- How many pieces a pass has, so that the next one can be spread over its time.
ALTER TABLE audit_progress ADD COLUMN pieces integer NOT NULL DEFAULT 0;
ALTER TABLE audit_progress ADD COLUMN last_pieces integer;
