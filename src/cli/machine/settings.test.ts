import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ConfigError, describeConfig, readConfig } from '../../node/config.ts'

test('a secret may come from a file, which must hold something, and from one place only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-config-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [full, empty] = [join(folder, 'full'), join(folder, 'empty')]
  await writeFile(full, 'letmein\n')
  await writeFile(empty, '\n')
  const mistakes = (env: Record<string, string>) => {
    try {
      readConfig(env)
      return []
    } catch (error) {
      return (error as ConfigError).mistakes
    }
  }
  expect(readConfig({ METRICS_TOKEN_FILE: full }).metrics_token).toBe('letmein')
  expect(describeConfig({ METRICS_TOKEN_FILE: full })).toContainEqual({
    name: 'METRICS_TOKEN',
    value: '********',
    source: 'file',
  })
  expect(mistakes({ METRICS_TOKEN_FILE: empty })).toEqual([expect.stringMatching(/^METRICS_TOKEN is empty/)])
  expect(mistakes({ METRICS_TOKEN_FILE: full, METRICS_TOKEN: 'x' })).toEqual([
    expect.stringMatching(/^METRICS_TOKEN and METRICS_TOKEN_FILE are both set/),
  ])
  // Only what is secret is looked for in a file.
  expect(readConfig({ PORT_FILE: empty }).port).toBe(8080)
})
