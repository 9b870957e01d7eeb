import { readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/** Seconds of CPU that this machine has spent so far, on everything. */
export function machineCpu(): number {
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n')[0]!.trim().split(/\s+/)
  const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0] = ticks.map(Number)
  return (user + nice + system + irq + soft) / TICKS_PER_SECOND
}

/** Of this process, and of those that it started and that have ended. */
export function ownCpu(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
}
