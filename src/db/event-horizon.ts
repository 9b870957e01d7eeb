/**
 * Which events may be missing (decision 0097). Old events are removed by one function, which keeps to the retention of events;
 * a trigger writes down how far it has come, as `event_horizon.forgotten_until`.
 */

/** From this time on every event must be there, whatever the horizon says. */
export const EVENTS_KEPT_SINCE = `(SELECT greatest(now() - make_interval(days => kept_days('events')),
  (SELECT reached FROM retention WHERE what = 'events')))`

/** Events up to this time may be missing. */
export const EVENTS_REMOVED_UNTIL = `(SELECT least(forgotten_until, ${EVENTS_KEPT_SINCE}) FROM event_horizon)`
