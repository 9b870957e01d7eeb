-- Quotes that do not end while they are measured, for execution.sql. {{quotes}}: how many more.
INSERT INTO quotes (id, partner_id, customer_id, api_key_id, from_asset, to_asset, side, market_price, price_source, from_amount, to_amount, partner_fee, partner_bps, service_fee, service_bps, worth_brl, created_at, expires_at)
SELECT 'qt_' || lpad((made.count + n)::text, 26, '0'), customer.partner_id, customer.id, 'key_yardstick', 'BRL', 'USDT', 'buy', 540000000, 'fixed', 1000, 1824074, 10, 100, 5, 50, 985, now() + interval '1 hour', now() + interval '1 hour 30 seconds'
FROM (SELECT count(*) FROM quotes) AS made, generate_series(1, {{quotes}}) AS n
JOIN customers AS customer ON customer.id = 'cus_' || lpad((1 + n % {{customers}})::text, 26, '0');
VACUUM ANALYZE quotes;
