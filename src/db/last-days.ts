/** How many days the charts of keys and webhook endpoints show. Requests and deliveries are kept for at least seven. */
const DAYS = 14

/** Rows counted per day at most: so many entries of an index are read in some ten milliseconds. */
export const COUNTED_PER_DAY = 50_000

/** The last days of São Paulo with their bounds, the current one last: rows of `day`, `starts` and `ends`. */
export const lastDays = `(SELECT to_char(d, 'YYYY-MM-DD') AS day, d AT TIME ZONE 'America/Sao_Paulo' AS starts,
    (d + interval '1 day') AT TIME ZONE 'America/Sao_Paulo' AS ends
  FROM (SELECT (clock_timestamp() AT TIME ZONE 'America/Sao_Paulo')::date::timestamp - interval '1 day' * n AS d
    FROM generate_series(${DAYS - 1}, 0, -1) AS n) AS listed)`
