import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The result of one load. Times in milliseconds. */
export type Measure = {
  readonly per_second: number
  readonly p50: number
  readonly p99: number
  readonly errors: number
  readonly count: number
}

/** Runs a load in a child process, so that it does not share an event loop with anything measured. */
export function inChild<Job>(script: string, job: Job): Promise<Measure> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', path, JSON.stringify(job)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
    })
    child.once('close', (code) =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`${script} ended with ${code}`)),
    )
  })
}

export function summarize(latencies: number[], seconds: number, errors = 0): Measure {
  latencies.sort((a, b) => a - b)
  const at = (share: number) =>
    Math.round((latencies[Math.floor(latencies.length * share)] ?? 0) * 1000) / 1000
  return {
    per_second: Math.round(latencies.length / seconds),
    p50: at(0.5),
    p99: at(0.99),
    errors,
    count: latencies.length,
  }
}

/** Runs `workers` concurrent loops until the time is over. */
export async function runFor(
  seconds: number,
  workers: number,
  once: (worker: number) => Promise<boolean>,
): Promise<Measure> {
  const latencies: number[] = []
  let errors = 0
  const started = performance.now()
  const end = started + seconds * 1000
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      while (performance.now() < end) {
        const before = performance.now()
        if (await once(worker)) latencies.push(performance.now() - before)
        else errors++
      }
    }),
  )
  return summarize(latencies, (performance.now() - started) / 1000, errors)
}
