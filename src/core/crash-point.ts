/**
 * Named points at which a test kills the process, to test crashes at the worst moments. Does nothing unless CRASH_AT names
 * the point; the service logs a warning when it is set.
 */
const crashPoints = [
  'after_lock',
  'before_commit',
  'after_commit',
  'before_answer',
  'before_send',
  'after_send',
  'before_settle',
  'before_register',
  'after_register',
  'before_credit',
  'after_reserve',
  'after_sign',
  'after_signer_log',
  'before_replace',
  'before_cancel',
  'before_broadcast',
  'after_broadcast',
  'after_follow',
  'after_position',
  'after_sighting',
  'before_reported',
  'after_sweep_begun',
  'after_sweep_reserve',
  'after_sweep_sign',
  'after_sweep_stored',
  'after_sweep_broadcast',
  'after_delivery',
  'after_mail',
  'after_key_written',
  'after_key_named',
  'after_sealed_again',
  'before_key_promoted',
] as const

export type CrashPoint = (typeof crashPoints)[number]

const PAUSE_MS = 4000
const [armed, manner = 'kill'] = (process.env.CRASH_AT ?? '').split(':')
let left = 1

/**
 * `CRASH_AT=point` kills the process the first time it reaches the point; `CRASH_AT=point:pause` blocks it for PAUSE_MS;
 * `CRASH_AT=point:stop` stops it until it gets SIGCONT.
 */
export function crashPoint(name: CrashPoint): void {
  if (name !== armed || left-- <= 0) return
  if (manner === 'pause') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  else process.kill(process.pid, manner === 'stop' ? 'SIGSTOP' : 'SIGKILL')
}
