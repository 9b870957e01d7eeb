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

test('half a configuration of mail is refused, and the message names the missing half', () => {
  const whole = {
    SMTP_URL: 'smtps://trilho:hunter2@smtp.example.com',
    MAIL_FROM: 'Trilho <no-reply@example.com>',
    PUBLIC_URL: 'https://pay.example.com',
  }
  expect(readConfig(whole).mail).toMatchObject({
    server: { host: 'smtp.example.com', port: 465, secure: true, user: 'trilho', password: 'hunter2' },
    from: { name: 'Trilho', address: 'no-reply@example.com' },
    tls: 'verify',
  })
  expect(readConfig({}).mail).toMatchObject({ server: undefined, from: undefined })
  const { SMTP_URL, MAIL_FROM, PUBLIC_URL } = whole
  expect(mistakesIn({ SMTP_URL, PUBLIC_URL })).toEqual([
    expect.stringMatching(/^MAIL_FROM is needed with SMTP_URL/),
  ])
  expect(mistakesIn({ MAIL_FROM, PUBLIC_URL })).toEqual([
    expect.stringMatching(/^SMTP_URL is needed with MAIL_FROM/),
  ])
  expect(mistakesIn({ SMTP_URL, MAIL_FROM })).toEqual([
    expect.stringMatching(/^PUBLIC_URL is needed with SMTP_URL/),
  ])
  expect(describeConfig(whole)).toContainEqual({ name: 'SMTP_URL', value: '********', source: 'set' })
})

test('SMTP_URL must be a mail server, and no message repeats its password', () => {
  const read = (SMTP_URL: string) =>
    readConfig({ SMTP_URL, MAIL_FROM: 'a@b.example', PUBLIC_URL: 'https://pay.example.com' }).mail.server
  expect(read('smtp://mail.internal')).toMatchObject({ host: 'mail.internal', port: 587, secure: false })
  expect(read('smtp://[::1]:2525/')).toMatchObject({ host: '::1', port: 2525, user: undefined })
  expect(read('smtp://a%40b.example:p%2Fw%25@h.example')).toMatchObject({
    user: 'a@b.example',
    password: 'p/w%',
  })
  for (const wrong of [
    'https://u:hunter2@smtp.example.com',
    'smtp.example.com',
    'smtp://u:hunter2@',
    'smtp://u:hunter2/x@smtp.example.com',
    'smtp://u:hunter2@smtp.example.com/path',
    'smtp://u:hunter2@smtp.example.com?tls=false',
    'smtp://hunter2@smtp.example.com',
    'smtp://:hunter2@smtp.example.com',
    'smtp://u:hunter2%@smtp.example.com',
    'smtp://u:hunter2@smtp..example.com',
  ]) {
    const [mistake] = mistakesIn({
      SMTP_URL: wrong,
      MAIL_FROM: 'a@b.example',
      PUBLIC_URL: 'https://p.example',
    })
    expect(mistake, wrong).toMatch(/^SMTP_URL /)
    expect(mistake).not.toContain('hunter2')
  }
  for (const MAIL_FROM of [
    'Trilho',
    'a@b',
    'A <a@b.example>, b@c.example',
    'A <a@b.example>\r\nBcc: x@y.example',
  ])
    expect(
      mistakesIn({ SMTP_URL: 'smtp://h.example', MAIL_FROM, PUBLIC_URL: 'https://p.example' })[0],
    ).toMatch(/^MAIL_FROM /)
})
