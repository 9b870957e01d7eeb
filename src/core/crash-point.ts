/**
 * Named moments at which a test lets the process die, so that a crash there is something that was tried and not only
 * thought about. Does nothing unless CRASH_AT names the point; the service says so loudly when it is set.
 */
export const crashPoints = [
  'after_lock',
  'before_commit',
  'after_commit',
  'before_answer',
  'before_send',
  'after_send',
  'before_settle',
  'after_sign',
  'before_broadcast',
  'after_broadcast',
  'after_delivery',
  'after_key_written',
  'after_key_named',
  'after_sealed_again',
  'before_key_promoted',
] as const

export type CrashPoint = (typeof crashPoints)[number]

const PAUSE_MS = 4000
const [armed, manner = 'kill'] = (process.env.CRASH_AT ?? '').split(':')
let left = 1

/** `CRASH_AT=point` kills the process the first time it comes by; `CRASH_AT=point:pause` stops it dead for a while. */
export function crashPoint(name: CrashPoint): void {
  if (name !== armed || left-- <= 0) return
  if (manner === 'pause') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  else process.kill(process.pid, 'SIGKILL')
}
