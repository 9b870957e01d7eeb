import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/db/embedded/start.ts'
import { startReaper } from './reaper.ts'
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

const MEMORY = '/dev/shm'
const NEEDED_BYTES = 6e9

/** In memory, where there is plenty: hundreds of databases are made and dropped, and none of them has to outlive the run. */
async function placeForData(): Promise<string> {
  const room = await statfs(MEMORY).catch(() => undefined)
  return room && room.bavail * room.bsize > NEEDED_BYTES ? MEMORY : tmpdir()
}
