-- additive
-- The positions of before move to their events. The nodes of the version before write on meanwhile.
UPDATE events e SET position = p.position, late = p.late FROM (
  SELECT p.event_id, p.position,
    nullif(v.created_at > clock_timestamp() OR max(least(v.created_at, clock_timestamp())) OVER (ORDER BY p.position)
      > v.created_at + interval '2 seconds', false) AS late
  FROM event_positions p JOIN events v ON v.id = p.event_id) AS p WHERE e.id = p.event_id;
