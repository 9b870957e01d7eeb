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
] as const

export type CrashPoint = (typeof crashPoints)[number]

const [armed, chance = '1'] = (process.env.CRASH_AT ?? '').split(':')

export function crashPoint(name: CrashPoint): void {
  if (name === armed && Math.random() < Number(chance)) process.kill(process.pid, 'SIGKILL')
}
