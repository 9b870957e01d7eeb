-- What the scripts need beside the tables of the service.
CREATE SCHEMA bench;

-- Ids as the service makes them: a prefix, the time, then chance.
CREATE FUNCTION bench.new_id(prefix text) RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT prefix || '_' || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
    || right(translate(gen_random_uuid()::text, '-', ''), 14)
$$;

-- Quotes are executed in the order in which they were made.
CREATE SEQUENCE bench.next_quote;
