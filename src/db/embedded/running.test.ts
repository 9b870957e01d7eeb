import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { claimFolder, clusterFolder, writeConnection } from './folder.ts'
import { runningApi } from './running.ts'

test('the API address is taken only from a server of this user, because keys are sent there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-running-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const { data_dir, lock } = await claimFolder(join(folder, 'data'), () => {})
  onTestFinished(lock.release)
  const database = spawn('/bin/sh', ['-c', 'read _', 'sh', await clusterFolder(data_dir)])
  await once(database, 'spawn')
  onTestFinished(() => void database.kill())
  const api_url = 'http://127.0.0.1:4321'
  await writeConnection(data_dir, { url: 'x', pid: database.pid, server_pid: process.pid, api_url })
  expect(await runningApi(data_dir)).toBe(api_url)
  const us = process.getuid!()
  await expect(runningApi(data_dir, us + 1)).rejects.toThrow(`started by another user (uid ${us})`)
})
