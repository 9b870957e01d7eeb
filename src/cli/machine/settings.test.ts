import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ConfigError, describeConfig, readConfig } from '../../node/config.ts'

const mistakesIn = (env: Record<string, string>) => {
  try {
    readConfig(env)
    return []
  } catch (error) {
    return (error as ConfigError).mistakes
  }
}

test('a secret may come from a file, which must not be empty, or from a variable, but not from both', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trilho-config-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [full, empty] = [join(folder, 'full'), join(folder, 'empty')]
  await writeFile(full, 'letmein\n')
  await writeFile(empty, '\n')
  expect(readConfig({ METRICS_TOKEN_FILE: full }).metrics_token).toBe('letmein')
  expect(describeConfig({ METRICS_TOKEN_FILE: full })).toContainEqual({
    name: 'METRICS_TOKEN',
    value: '********',
    source: 'file',
  })
  expect(mistakesIn({ METRICS_TOKEN_FILE: empty })).toEqual([
    expect.stringMatching(/^METRICS_TOKEN is empty/),
  ])
  expect(mistakesIn({ METRICS_TOKEN_FILE: full, METRICS_TOKEN: 'x' })).toEqual([
    expect.stringMatching(/^METRICS_TOKEN and METRICS_TOKEN_FILE are both set/),
  ])
  // Only secrets have a _FILE variant.
  expect(readConfig({ PORT_FILE: empty }).port).toBe(8080)
})

test('PUBLIC_URL must be an origin: no user, path, query or fragment', () => {
  const read = (PUBLIC_URL: string) => readConfig({ PUBLIC_URL }).public_url
  expect(read('https://Pay.example.com/')).toBe('https://pay.example.com')
  expect(read('https://pay.example.com:443')).toBe('https://pay.example.com')
  expect(read('http://127.0.0.1:8080')).toBe('http://127.0.0.1:8080')
  expect(read('http://[::1]:8080')).toBe('http://[::1]:8080')
  for (const wrong of [
    'https://admin:hunter2@pay.example.com',
    'https://hunter2@pay.example.com',
    'https://pay.example.com/pay',
    'https://pay.example.com?',
    'https://pay.example.com/#',
    'https://$(hunter2)',
    'https://pay.example.com;hunter2',
    "https://'hunter2",
    'https://pay..example.com',
    'https://pay.example.com\\hunter2',
    'https://pay.example.com\n',
    'https:pay.example.com',
    'ftp://pay.example.com',
    'pay.example.com',
  ]) {
    expect(mistakesIn({ PUBLIC_URL: wrong }), wrong).toEqual([
      expect.stringMatching(/^PUBLIC_URL must be https:\/\/ or http:\/\/ with a host/),
    ])
    expect(mistakesIn({ PUBLIC_URL: wrong })[0]).not.toContain('hunter2')
  }
})
