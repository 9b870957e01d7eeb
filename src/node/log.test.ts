import { expect, test } from 'vitest'
import { reportError } from '../core/error-report.ts'
import { createLog } from './log.ts'
import { textLines } from './log-text.ts'

function written(format: 'text' | 'json', write: (log: ReturnType<typeof createLog>) => void): string {
  let text = ''
  const destination = { write: (line: string) => void (text += line) }
  write(createLog({ level: 'debug', format, destination }))
  return text
}

/** The output on a terminal, which a test does not have. */
function coloured(line: Record<string, unknown>): string {
  let text = ''
  const stream = textLines({ write: (line) => void (text += line) }, { colour: true })
  stream.write(JSON.stringify({ time: '2026-01-01T12:00:00.000Z', ...line }))
  return text
}

const request = {
  request_id: 'req_1',
  method: 'POST',
  route: '/v1/pix/payouts',
  status: 422,
  error_code: 'insufficient_balance',
  ms: 12.3,
  address: '127.0.0.1',
  key_id: 'key_1',
}

test('a line for people has the time, the level, the message and its fields', () => {
  const text = written('text', (log) => {
    log.info({ applied: ['0001', '0002'], host: undefined, port: 5432 }, 'database migrated')
    log.warn('plain')
  })
  expect(text).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} INFO {2}database migrated {2}applied=\["0001","0002"\] port=5432\n\d\d:\d\d:\d\d\.\d{3} WARN {2}plain\n$/,
  )
})

test('a request is one short line: method and route, outcome, key', () => {
  const text = written('text', (log) => {
    log.info(request, 'request')
    log.info({ ...request, status: 201, error_code: undefined, object_id: 'po_1' }, 'request')
  })
  const [refused, made] = text.split('\n').map((line) => line.slice('00:00:00.000 '.length))
  expect(refused).toBe('INFO  POST /v1/pix/payouts 422 insufficient_balance  12.3 ms  key_1  req_1')
  expect(made).toBe('INFO  POST /v1/pix/payouts 201  12.3 ms  po_1  key_1  req_1')
})

test('an error is printed with its stack and its causes, indented', () => {
  const error = new TypeError('outer', { cause: Object.assign(new Error('inner'), { code: 'ECONNRESET' }) })
  const text = written('text', (log) => log.error({ err: error, request_id: 'req_1' }, 'internal error'))
  expect(text).toMatch(
    /ERROR internal error {2}request_id=req_1\n {4}TypeError: outer\n {8}at [\s\S]*\n {4}caused by Error: inner\n[\s\S]* {2}\(ECONNRESET\)\n$/,
  )
})

test('text from outside moves no cursor, begins no line, and is truncated', () => {
  const evil = 'a\x1b[2Jb\r\nc\x9bd'
  const text = written('text', (log) => {
    log.info({ postgres: evil }, evil)
    log.info({ ...request, route: evil }, 'request')
    log.warn({ err: new Error(evil) }, 'it')
    log.info({ long: 'x'.repeat(10_000) })
  })
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  const lines = text.trimEnd().split('\n')
  expect(lines.filter((line) => /^\d\d:/.test(line))).toHaveLength(4)
  expect(lines.at(-1)!.length).toBeLessThan(200)
})

test('colour shows the outcome, and is used only on a terminal', () => {
  expect(coloured({ level: 30, msg: 'request', ...request })).toContain(
    '\x1b[33m422 insufficient_balance\x1b[0m',
  )
  expect(coloured({ level: 30, msg: 'request', ...request, status: 500 })).toContain('\x1b[31m500')
  expect(coloured({ level: 50, msg: 'it', err: reportError(new Error('x')) })).toContain(
    '\x1b[31mERROR\x1b[0m',
  )
  expect(written('text', (log) => log.error(request, 'request'))).not.toContain('\x1b')
})

test('for log collectors lines are JSON, with all fields', () => {
  const line = written('json', (log) => log.info(request, 'request'))
  expect(JSON.parse(line)).toMatchObject({ level: 30, msg: 'request', ...request })
})
