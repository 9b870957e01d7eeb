import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

// Cleans up after a test run, also after one that was killed. postgres.ts starts this process, whose standard input is a pipe from
// the process of the run: when that process ends, in whatever way, the pipe is closed. Then this process kills every process that
// has TEST_RUN=<id of the run> in its environment, and removes the folders of the run. Without /proc it only removes the folders.
const [run, ...folders] = process.argv.slice(2)
// A signal that stops the run may reach this process too, which must outlive the run.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

process.stdin.resume().once('end', async () => {
  // Several rounds: a process may start another one just before it is killed.
  for (let round = 0; round < 10; round++) {
    const left = startedBy(run)
    for (const pid of left) kill(pid)
    if (left.length === 0) break
    await sleep(200)
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit()
})

function startedBy(id) {
  return pids().filter((pid) => pid !== process.pid && environmentOf(pid).includes(`TEST_RUN=${id}`))
}

function pids() {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return [] // the process has ended, or belongs to another user
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // the process has ended meanwhile
  }
}
