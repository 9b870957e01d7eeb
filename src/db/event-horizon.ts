/**
 * Which events may be missing (decision 0030). One function removes old events, within the retention of events; a trigger
 * records the time up to which events were removed, as `event_horizon.forgotten_until`.
 */

/** Every event since this time must exist, whatever the horizon says. */
export const EVENTS_KEPT_SINCE = `(SELECT greatest(now() - make_interval(days => kept_days('events')),
  (SELECT reached FROM retention WHERE what = 'events')))`

/** Events up to this time may be missing. */
export const EVENTS_REMOVED_UNTIL = `(SELECT least(forgotten_until, ${EVENTS_KEPT_SINCE}) FROM event_horizon)`
