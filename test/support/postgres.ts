import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/db/embedded/start.ts'
import { makeTemplate } from './template.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgres_url: string
    /** A folder for what lasts as long as the run. */
    run_dir: string
  }
}

/** One real PostgreSQL for the whole run; every test file makes a database of its own in it, from a template. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const data_dir = await mkdtemp(join(await placeForData(), 'trilho-test-'))
  const run_dir = await mkdtemp(join(tmpdir(), 'trilho-run-'))
  process.env.TEST_RUN = startReaper(data_dir, run_dir)
  const postgres = await startEmbedded({ data_dir, settings: { max_connections: '300' } })
  await makeTemplate(postgres.url)
  project.provide('postgres_url', postgres.url)
  project.provide('run_dir', run_dir)
  return async () => {
    await postgres.stop()
    for (const folder of [data_dir, run_dir]) await rm(folder, { recursive: true, force: true })
  }
}

/** Starts the process that cleans up after this run, also when it is killed. Returns the id that the processes of the run carry. */
function startReaper(...folders: readonly string[]): string {
  const id = randomUUID()
  const script = fileURLToPath(new URL('reaper.mjs', import.meta.url))
  const reaper = spawn(process.execPath, [script, id, ...folders], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  reaper.unref()
  ;(reaper.stdin as Socket).unref()
  return id
}

const MEMORY = '/dev/shm'
const NEEDED_BYTES = 6e9

/** In memory, where there is plenty: hundreds of databases are made and dropped, and none of them has to outlive the run. */
async function placeForData(): Promise<string> {
  const room = await statfs(MEMORY).catch(() => undefined)
  return room && room.bavail * room.bsize > NEEDED_BYTES ? MEMORY : tmpdir()
}
