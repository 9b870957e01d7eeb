import { readdirSync, readFileSync } from 'node:fs'

/** CPU time and memory of processes, as Linux counts them. Elsewhere all of it is zero, and slices say that nothing is known. */

const TICKS_PER_SECOND = 100

export const isCounted = process.platform === 'linux'

/** Seconds of CPU that this machine has spent so far on everything, and what its host took away from it. */
export function machineCpu(): number {
  const [, ...ticks] = readOr('/proc/stat').split('\n')[0]!.trim().split(/\s+/)
  const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0, stolen = 0] = ticks.map(Number)
  return (user + nice + system + irq + soft + stolen) / TICKS_PER_SECOND
}

/** What this process started and still runs, beside the servers. */
export const helpers = new Set<number>()

/** Of this process, of what helps it, and of those that it started and that have ended: the loads. */
export const ownCpu = (): number => [...helpers].reduce((sum, pid) => sum + cpuOf(pid), cpuOf('self', true))

export function cpuOf(pid: number | 'self', with_ended_children = false): number {
  const ticks = statOf(pid).slice(11, with_ended_children ? 15 : 13)
  return ticks.reduce((sum, each) => sum + Number(each), 0) / TICKS_PER_SECOND
}

/** A process and all that it started, ended ones too. */
export const familyCpu = (pid: number): number =>
  childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), cpuOf(pid, true))

export function residentMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readOr(`/proc/${pid}/status`))?.[1] ?? 0) / 1024)
}

function childrenOf(pid: number): number[] {
  if (!isCounted) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => Number(statOf(each)[1]) === pid)
}

/** The fields behind the name of the program, which may hold anything. */
function statOf(pid: number | 'self'): string[] {
  return (readOr(`/proc/${pid}/stat`).split(') ')[1] ?? '').split(' ')
}

function readOr(path: string, otherwise = ''): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}
