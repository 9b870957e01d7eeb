-- The history of pauses and limits is only added to.
CREATE OR REPLACE FUNCTION rail_change_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'change % of the rail % never changes', OLD.id, OLD.rail;
END $$;
CREATE OR REPLACE TRIGGER rail_changes_stay BEFORE UPDATE OR DELETE ON rail_changes
  FOR EACH ROW EXECUTE FUNCTION rail_change_stays();
