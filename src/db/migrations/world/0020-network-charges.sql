-- additive
-- What the network really took for a transfer, in smallest units of the transfer's asset, and when that was booked. NULL:
-- nobody was told, or it is paid in a coin that is no asset here. A node of the version before leaves both NULL.
ALTER TABLE transfers ADD COLUMN charged bigint, ADD COLUMN charged_at timestamptz(3);
-- NOT VALID: the columns are new, so there is nothing to look for in rows that are there.
ALTER TABLE transfers ADD CONSTRAINT transfers_charged
  CHECK ((charged IS NULL) = (charged_at IS NULL) AND (charged IS NULL OR (charged >= 0 AND completed_at IS NOT NULL))) NOT VALID;

CREATE TRIGGER transfers_charged_once BEFORE UPDATE OF charged, charged_at ON transfers
  FOR EACH ROW WHEN (OLD.charged IS NOT NULL AND (OLD.charged, OLD.charged_at) IS DISTINCT FROM (NEW.charged, NEW.charged_at))
  EXECUTE FUNCTION order_stays();
