-- The identity of partners and users is written once (decision 0029). Removing a user replaces the e-mail, which frees it.
CREATE OR REPLACE FUNCTION identity_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%: % never changes', TG_TABLE_NAME, TG_ARGV[0];
END $$;
CREATE OR REPLACE TRIGGER partners_identity_stays BEFORE UPDATE OF id, name, created_at ON partners
  FOR EACH ROW EXECUTE FUNCTION identity_stays('who a partner is');
CREATE OR REPLACE TRIGGER users_identity_stays BEFORE UPDATE OF id, partner_id, created_at ON users
  FOR EACH ROW EXECUTE FUNCTION identity_stays('who a person is');
CREATE OR REPLACE TRIGGER users_email_stays BEFORE UPDATE OF email ON users
  FOR EACH ROW WHEN (NEW.email <> OLD.id || '@removed.invalid') EXECUTE FUNCTION identity_stays('the e-mail of a person');
