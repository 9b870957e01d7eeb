import { readdirSync, readFileSync } from 'node:fs'

/** CPU time and memory of processes on Linux. On other systems all figures are zero, and slices report them as unknown. */

const TICKS_PER_SECOND = 100

export const isCounted = process.platform === 'linux'

/** CPU seconds of the whole machine so far, including time stolen by its host. */
export function machineCpu(): number {
  const [, ...ticks] = readOr('/proc/stat').split('\n')[0]!.trim().split(/\s+/)
  const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0, stolen = 0] = ticks.map(Number)
  return (user + nice + system + irq + soft + stolen) / TICKS_PER_SECOND
}

/** Running child processes other than the servers. */
export const helpers = new Set<number>()

/** CPU time of this process, its helpers and its ended children (the loads). */
export const ownCpu = (): number => [...helpers].reduce((sum, pid) => sum + cpuOf(pid), cpuOf('self', true))

export function cpuOf(pid: number | 'self', with_ended_children = false): number {
  const ticks = statOf(pid).slice(11, with_ended_children ? 15 : 13)
  return ticks.reduce((sum, each) => sum + Number(each), 0) / TICKS_PER_SECOND
}

/** CPU time of a process and its children, including ended ones. */
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

/** The fields after the program name, which may itself contain spaces. */
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
