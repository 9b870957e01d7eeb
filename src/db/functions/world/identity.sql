-- Who a customer is, whose a key is and what it opens: the service writes these once. Payouts go to the document of their
-- customer, so a role of the database that was broken into must not exchange it (decision 0029).
CREATE OR REPLACE FUNCTION identity_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%: % never changes', TG_TABLE_NAME, TG_ARGV[0];
END $$;
CREATE OR REPLACE TRIGGER customers_identity_stays BEFORE UPDATE OF id, partner_id, document, document_type, external_id, created_at ON customers
  FOR EACH ROW EXECUTE FUNCTION identity_stays('who a customer is');
CREATE OR REPLACE TRIGGER api_keys_identity_stays BEFORE UPDATE OF id, partner_id, scopes, created_at, made_for ON api_keys
  FOR EACH ROW EXECUTE FUNCTION identity_stays('whose a key is, and what it opens');
CREATE OR REPLACE TRIGGER api_key_values_identity_stays BEFORE UPDATE OF hash, api_key_id, last_four, created_at ON api_key_values
  FOR EACH ROW EXECUTE FUNCTION identity_stays('a value of a key');

-- A key and its values may end sooner, never later; a revoked key stays revoked.
CREATE OR REPLACE TRIGGER api_keys_end_stays BEFORE UPDATE OF expires_at, revoked_at ON api_keys
  FOR EACH ROW WHEN (coalesce(NEW.expires_at, 'infinity') > coalesce(OLD.expires_at, 'infinity')
    OR OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
  EXECUTE FUNCTION identity_stays('the end of a key');
CREATE OR REPLACE TRIGGER api_key_values_end_stays BEFORE UPDATE OF valid_until ON api_key_values
  FOR EACH ROW WHEN (coalesce(NEW.valid_until, 'infinity') > coalesce(OLD.valid_until, 'infinity'))
  EXECUTE FUNCTION identity_stays('the end of a value of a key');
