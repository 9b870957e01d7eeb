import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

// Started by postgres.ts beside a test run, with a pipe to it. The pipe ends when the run has ended, however it ended: then every
// process that the tests started and did not stop is killed, and the folders of the run are removed. The processes are known by
// the variable TEST_RUN in their environment; where there is no /proc, only the folders are removed.
const [run, ...folders] = process.argv.slice(2)
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

process.stdin.resume().once('end', async () => {
  for (let turn = 0; turn < 10; turn++) {
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
    return [] // it has ended, or belongs to somebody else
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended meanwhile
  }
}
