import { expect } from 'vitest'
import { readConfig } from '../../src/node/config.ts'
import { startService } from '../../src/node/serve.ts'
import { openApi } from './api.ts'
import { type Ran, runCli } from './cli.ts'
import { asAdmin, createDatabase } from './database.ts'
import { someCpf, testEnv } from './service.ts'

export type Person = { readonly email: string; readonly password: string }
type Env = Record<string, string>

/** A server with its demo, and the command line beside it, in this process. */
export type CliStage = Awaited<ReturnType<typeof openCliStage>>

export async function openCliStage(more: Env = {}) {
  const database = await createDatabase()
  let printed = ''
  const service = await startService({
    config: readConfig(testEnv(database.url, { DEMO: 'true', ...more })),
    print: (text) => {
      printed += text
    },
    onFatal: (error) => {
      throw error
    },
  })
  const found = (pattern: RegExp) => pattern.exec(printed)![1]!
  const demo = {
    partner_id: found(/partner +(ptn_\w+)/),
    key: found(/^ +export TRILHO_KEY=(\S+)$/m),
    customer_id: found(/^ +export CUSTOMER=(\S+)$/m),
  }
  const here = { DATABASE_URL: database.url, SECRET_KEY: '00'.repeat(32) }
  const stage = {
    url: service.url,
    database_url: database.url,
    demo,
    here,
    api: openApi(service.url, demo.key),
    /** Once there are operators, whoever types here is one of them. */
    person: undefined as Person | undefined,
    run: (args: readonly string[], env: Env = {}): Promise<Ran> => runCli(args, { ...here, ...env }),
    as: (person: Person | undefined, args: readonly string[], env: Env = {}): Promise<Ran> =>
      stage.run(person ? [...args, '--as', person.email] : args, {
        ...(person ? { OPERATOR_PASSWORD: person.password } : {}),
        ...env,
      }),
    trilho: (...args: string[]): Promise<Ran> => stage.as(stage.person, args),
    async json(...args: string[]) {
      const ran = await stage.trilho(...args, '--json')
      expect(ran.err).toBe('')
      expect(ran.code, ran.out).toBe(0)
      return ran.json
    },
    /** With the demo's API key. */
    withKey: (args: readonly string[], env: Env = {}): Promise<Ran> =>
      runCli(args, { TRILHO_KEY: demo.key, TRILHO_URL: service.url, ...env }),
    /** Two of them, of whom the first types here from now on. */
    async operators(): Promise<{ ana: Person; bea: Person }> {
      const ana = await stage.json('users', 'create', '--email', 'ana@operator.example', '--operator')
      stage.person = ana
      const bea = await stage.json('users', 'create', '--email', 'bea@operator.example', '--operator')
      return { ana, bea }
    },
    async newCustomer(key = demo.key): Promise<string> {
      const customer = { name: 'Ana', document: someCpf() }
      return (await openApi(service.url, key).post('/v1/customers', customer)).json.id
    },
    async balance(schema: 'live' | 'sandbox', customer_id: string, asset = 'BRL'): Promise<number> {
      const [row] = await asAdmin(database.url, [
        `SELECT balance FROM ${schema}.balances WHERE customer_id = '${customer_id}' AND asset = '${asset}'`,
      ])
      return Number(row!.balance)
    },
    async stop() {
      await service.stop()
      await database.drop()
    },
  }
  return stage
}

/** A mistake: said on stderr, for people, and nothing on stdout that a script could take for an answer. */
export function isMistake(ran: Ran, message: RegExp, code?: number): void {
  expect(ran.err).toMatch(message)
  expect(ran.err).not.toMatch(/\n +at /)
  expect(ran.out).toBe('')
  if (code === undefined) expect([1, 2, 3]).toContain(ran.code)
  else expect(ran.code).toBe(code)
}
