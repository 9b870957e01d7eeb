import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { ioOf, runCli } from '../../test/support/cli.ts'
import { isMistake } from '../../test/support/cli-stage.ts'
import { assetNames } from '../core/money.ts'
import { commands } from './commands/all.ts'
import { ASSETS } from './commands/api/options.ts'
import { choices, scriptOf } from './completion.ts'
import { AmountCell, csv } from './csv.ts'
import { exit } from './exit.ts'
import { findCommand, nearest } from './find-command.ts'
import { parse } from './parse.ts'

/** Command-line syntax and usage errors: none of these tests reaches a service. */
const trilho = (line: string, env: Record<string, string> = {}) =>
  runCli(line.split(' ').filter(Boolean), { DATA_DIR: '/nowhere', HOME: '/nowhere', ...env })

test('help groups commands by who may run them, and every command has its own help', async () => {
  const [help, one, version, asked] = await Promise.all([
    trilho('help'),
    trilho('payouts create --help'),
    trilho('--version'),
    trilho('help payouts create'),
  ])
  expect(help.out).toMatch(/With an API key:\n[\s\S]*payouts create[\s\S]*For operators[\s\S]*keys create/)
  expect(one.out).toMatch(/^trilho payouts create\n[\s\S]*--amount 10\.50[\s\S]*--key-file FILE[\s\S]*--json/)
  expect(one.out).toMatch(/Examples:\n {2}trilho payouts create [\s\S]*Variables:\n[\s\S]*TRILHO_KEY/)
  expect(one.out).toMatch(/\nWho: Anyone with an API key\n$/)
  expect(asked).toEqual(one)
  expect(version.out).toMatch(/^\d+\.\d+\.\d+\n$/)
  for (const { code } of [help, one, version]) expect(code).toBe(exit.done)
})

test('a noun alone lists its verbs; an unknown word suggests the nearest', async () => {
  const alone = await trilho('keys')
  expect(alone).toMatchObject({ code: 0, err: '' })
  expect(alone.out).toMatch(/^ {2}keys create .*\n {2}keys list /m)
  expect(alone.out).not.toMatch(/^ {2}(?!keys )/m)
  expect(await trilho('keys --help')).toEqual(alone)
  isMistake(
    await trilho('keys crate'),
    /Unknown command: keys crate\. Did you mean: trilho keys create\n\n[\s\S]* {2}keys create /,
    2,
  )
  isMistake(await trilho('keys frobnicate'), /Unknown command: keys frobnicate\. See: trilho keys\n/, 2)
  isMistake(await trilho('paoyuts list'), /Unknown command: paoyuts\. Did you mean: trilho payouts\n$/, 2)
  isMistake(await trilho('frobnicate now'), /Unknown command: frobnicate\. See: trilho help\n$/, 2)
  expect(nearest('listne', ['list', 'listen'])).toBe('listen')
  expect(nearest('x', ['usage'])).toBeUndefined()
})

test.each<[string, RegExp]>([
  ['keys list --frob', /Unknown option '--frob'[\s\S]*trilho keys list/],
  ['partners list extra', /Unexpected: extra/],
  ['payouts list -- ls', /Unexpected: -- ls/],
  ['customers credit cus_x --asset BRL', /--amount is missing[\s\S]*--reference TEXT/],
  ['payouts create --customer cus_x --amount 10,50 --to a@b.c', /'10,50' is not an amount: write it like/],
  ['payouts create --customer cus_x --amount 10.505 --to a@b.c', /has 3 decimals, and 'BRL' has 2/],
  [
    'transfers create --customer c --asset BRL --network n --amount 1 --to x',
    /BRL is paid by Pix: trilho payouts create/,
  ],
  ['payouts list --output xml', /--output must be one of table, json, jsonl, csv\./],
  ['payouts get po_x --output xml', /--output must be one of table, json, jsonl\./],
  ['payouts list --output jsonl --json', /--json and --output jsonl contradict each other/],
  ['serve --role both', /--role must be one of all, api, worker\./],
  ['completion tcsh', /The shell must be one of bash, zsh, fish/],
  ['listen --types pix.payout.complete', /is no event type\. Did you mean pix\.payout\.completed\?/],
  ['listen --forward-to nonsense', /--forward-to must be a URL such as/],
  ['trigger pix.payout.completed --override amount', /--override must be FIELD=VALUE/],
  ['usage --url nowhere', /nowhere is not the address of a service/],
  ['usage --url http://127.0.0.1:8080/v1/', /Leave \/v1 away: http:\/\/127\.0\.0\.1:8080\n/],
  [
    'trigger pix.payout.completed --override amount=10.50',
    /--override amount takes a whole number of the smallest unit: for 10\.50 .* amount=1050\n/,
  ],
  [
    'payouts create --customer c --amount -5 --to a@b.c --idempotency-key k',
    /--amount must be above zero, such as 10\.50\./,
  ],
  ['payouts create --customer --amount 1', /--customer needs a value\. .*--customer=VALUE\n/],
  ['payouts list --status', /--status needs a value/],
  [
    'payouts get cus_01m7ekz4afmyb6w1xfey036y8p',
    /is the id of a customer\. The id of a payout starts with po_\. See: trilho customers get cus_01m7/,
  ],
  ['customers balances po_x', /is the id of a payout\. The id of a customer starts with cus_/],
  ['sandbox complete tr_x', /is the id of a transfer\. The id of a payout starts with po_/],
  [
    'customers create --name Ana --document 529.982.247-15',
    /--document 529\.982\.247-15 has the form of a CPF, but its check digits are wrong/,
  ],
  [
    'payouts check --customer c --amount 1 --to 11987654321',
    /form of a CPF, but its check digits are wrong.*A phone number begins with \+55: \+5511987654321/,
  ],
  ['payouts create --output csv --customer c --amount 1 --to a@b.c', /--output csv is for lists; this takes/],
  [
    'payouts create --customer c --amount 1 --to a@b.c --amount=100 --idempotency-key k',
    /--amount is given twice/,
  ],
  ['usage --profile constructor', /There is no profile constructor\./],
  ['usage --profile home', /There is no profile home\..*trilho profiles add home/],
])('trilho %s', async (line, message) => {
  isMistake(await trilho(line, { TRILHO_KEY: 'svc_test_sk_x' }), message, exit.typed_wrong)
})

test('with --json a usage error is JSON too, in the API’s format', async () => {
  const errorOf = async (line: string, env = {}) => JSON.parse((await trilho(line, env)).err).error
  expect(await errorOf('frobnicate --json')).toEqual({
    code: 'usage',
    message: 'Unknown command: frobnicate. See: trilho help',
  })
  expect(await errorOf('keys revoke --output jsonl', { DATABASE_URL: 'x', SECRET_KEY: 'x' })).toMatchObject({
    code: 'configuration',
  })
  expect(await errorOf('config check --json', { PORT: 'eighty' })).toMatchObject({
    code: 'configuration',
    mistakes: ['PORT must be a whole number from 0 to 65535, not "eighty"'],
  })
  expect(await errorOf('usage --json')).toMatchObject({ code: 'not_allowed' })
})

describe('the table of commands', () => {
  test.each(commands.map((command) => [command.name, command] as const))('%s', (_, command) => {
    expect(command.about).not.toMatch(/\.$/)
    expect(command.examples.length).toBeGreaterThan(0)
    for (const line of command.examples) {
      const words = /\btrilho (.*)/.exec(line)![1]!.replaceAll(/ [>|] .*|\)$/g, '')
      const argv = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!)
      const found = findCommand(commands, argv)
      expect('command' in found && found.command, line).toBe(command)
      // Every example must parse.
      if ('command' in found) expect(() => parse(command, found.rest), line).not.toThrow()
    }
  })

  test('has no name twice', () => {
    const names = commands.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  test('every command is run by a test', () => {
    const folder = fileURLToPath(new URL('./', import.meta.url))
    const tests = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(`${folder}${name}`, 'utf8').replaceAll(/[',`]+ ?/g, ' '))
    const lifecycle = readFileSync(
      fileURLToPath(new URL('../../test/lifecycle.test.ts', import.meta.url)),
      'utf8',
    )
    const text = [...tests, lifecycle].join('\n')
    expect(commands.map(({ name }) => name).filter((name) => !text.includes(name))).toEqual([])
  })
})

describe('completion', () => {
  /** The completions that bash offers for a partial line. */
  const offered = (line: string): string[] => {
    const words = line.split(' ')
    const script = `${scriptOf('bash', commands)}
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
      _trilho; printf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\n').filter(Boolean)
  }

  test('bash completes nouns, verbs, options and option values', () => {
    expect(offered('trilho pay')).toEqual(['payouts'])
    expect(offered('trilho profiles ')).toEqual(['add', 'list', 'use', 'remove'])
    expect(offered('trilho keys create --en')).toEqual(['--environment'])
    expect(offered('trilho keys create --environment ')).toEqual(['production', 'sandbox'])
    expect(offered('trilho payouts list --json --output j')).toEqual(['json', 'jsonl'])
    expect(offered('trilho payouts list --output c')).toEqual(['csv'])
    expect(offered('trilho trigger pix.payout.c')).toEqual(['pix.payout.created', 'pix.payout.completed'])
    expect(offered('trilho completion ')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']))
  })

  test('every command and option is in the scripts, which bash accepts', async () => {
    const table = choices(commands)
    for (const { name, options = {} } of commands)
      expect(table.get(name)).toEqual(
        expect.arrayContaining(Object.keys(options).map((option) => `--${option}`)),
      )
    const { out } = await trilho('completion bash')
    expect(out).toBe(scriptOf('bash', commands))
    execFileSync('bash', ['-n'], { input: out })
    for (const shell of ['zsh', 'fish'] as const)
      expect(scriptOf(shell, commands)).toContain('webhooks redeliver')
  })
})

test('CSV has a column per field, two for an amount, quotes where needed, and no formula', () => {
  const amount = new AmountCell('-10.50', 'BRL')
  const rows = [
    { id: 'po_1', amount, name: 'Ana "A", Souza', note: undefined },
    { id: 'po_2', amount, name: '=1+1', note: new Date(0) },
  ]
  expect(csv(rows).split('\n')).toEqual([
    'id,amount,amount_asset,name,note',
    'po_1,-10.50,BRL,"Ana ""A"", Souza",',
    `po_2,-10.50,BRL,'=1+1,1970-01-01T00:00:00.000Z`,
    '',
  ])
  expect(csv(rows.slice(1), { header: false })).toMatch(/^po_2,/)
  expect(csv([])).toBe('')
})

test('the assets of the options are those of the service', () => {
  expect(ASSETS).toBe(assetNames.join('|'))
})

test('progress is shown on a terminal only', () => {
  const seen = (terminal: boolean) => {
    const printed = { out: '', err: '' }
    ioOf({}, printed, { terminal }).progress('3 read …')
    return printed
  }
  expect(seen(true)).toEqual({ out: '', err: '\r\x1b[2K3 read …' })
  expect(seen(false)).toEqual({ out: '', err: '' })
})
