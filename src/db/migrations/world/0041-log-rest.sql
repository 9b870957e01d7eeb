-- additive
-- Events that the version before committed without a position. A file of its own: whoever gives positions must hold no table
-- that another transaction needs to give its own.
SELECT place_events();
