-- additive
-- Nodes that sign without a reservation are of no release that may run beside this one.
DROP TRIGGER transfers_reserve_for_older ON transfers;
DROP FUNCTION reserve_for_older();
