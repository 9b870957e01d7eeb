-- Average cost depends on the order of trades. A fold deletes trades from "unfolded"; this trigger records which trades were folded
-- together, in the order of their ids.
CREATE OR REPLACE FUNCTION note_fold() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO folds (trade_ids) SELECT array_agg(trade_id ORDER BY trade_id) FROM gone HAVING count(*) > 0;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_fold AFTER DELETE ON unfolded REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_fold();
