import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeCpf } from '../core/document.ts'
import { formatMoney, type Money, money } from '../core/money.ts'
import { writePrivately } from '../db/embedded/files.ts'
import { deposit } from '../money/deposits/deposits.ts'
import { addCustomer } from '../parties/customers/customers.ts'
import type { Customer } from '../parties/customers/store.ts'
import { createKey } from '../parties/keys/keys.ts'
import { createPartner, listPartners, type Shared } from '../parties/partners/partners.ts'
import { makePassword } from '../parties/team/password.ts'
import { createUser } from '../parties/team/people.ts'
import type { World } from '../world.ts'

/** Demo data of a first start: a partner, its owner, a sandbox key and a customer with a balance. */
type Demo = {
  readonly partner_id: string
  readonly email: string
  readonly password: string
  readonly key: string
  readonly customer: Customer
}

export const DEMO_OWNER = 'owner@demo.example'

const balances: readonly Money[] = [
  money('BRL', 1_000_000n),
  money('USDT', 2_000_000_000n),
  money('BTC', 5_000_000n),
]

/** Returns undefined when a partner exists: a demo is for an empty database only. */
export async function createDemo(shared: Shared, sandbox: World<'sandbox'>): Promise<Demo | undefined> {
  if ((await listPartners(shared)).length > 0) return undefined
  const partner = await createPartner(shared, 'Demo')
  const { user, password } = await createUser(
    shared.db,
    {
      id: shared.newId('user'),
      email: DEMO_OWNER,
      name: 'Demo owner',
      partner_id: partner.id,
      role: 'owner',
    },
    await makePassword(),
  )
  const { value } = await createKey(sandbox, { partner_id: partner.id, name: 'Demo sandbox key' })
  const customer = await addCustomer(sandbox, {
    partner_id: partner.id,
    name: 'Ana Souza',
    document: makeCpf('529982247'),
    external_id: 'demo',
  })
  for (const amount of balances) {
    await sandbox.commit(
      deposit(sandbox, { partner_id: partner.id, customer_id: customer.id, money: amount, rail: 'sandbox' }),
    )
  }
  return { partner_id: partner.id, email: user.email, password, key: value, customer }
}

/** Printed once, and never logged: the key and the password are stored nowhere else. */
export async function showDemo(
  demo: Demo,
  to: { url: string; secrets: 'print' | 'file'; data_dir: string; print: (text: string) => void },
): Promise<void> {
  if (to.secrets === 'print') return to.print(renderDemo(demo, to.url, demo))
  const file = demoFile(to.data_dir)
  const kept = await keepSecrets(demo, to.url, file).then(
    () => true,
    (error: Error) => to.print(`\n  The demo's key cannot be kept: ${error.message}\n`),
  )
  to.print(renderDemo(demo, to.url, kept ? { file } : { file: undefined }))
}

export const demoFile = (data_dir: string): string => join(data_dir, 'demo.env')

/** The environment variables that the guides, the SDK and the command line use. */
const variablesOf = (demo: Demo, url: string) => ({
  TRILHO_URL: url,
  TRILHO_KEY: demo.key,
  CUSTOMER: demo.customer.id,
})

const exported = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `export ${name}=${value}\n`)
    .join('')

/** Writes a file for a shell to read, with access for its owner only. */
async function keepSecrets(demo: Demo, url: string, file: string): Promise<void> {
  const rest = { PARTNER: demo.partner_id, OWNER: demo.email, PASSWORD: demo.password }
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writePrivately(file, exported({ ...variablesOf(demo, url), ...rest }))
}

type Shown = { readonly key: string; readonly password: string } | { readonly file: string | undefined }

function renderDemo(demo: Demo, url: string, shown: Shown): string {
  const open = 'key' in shown
  const said = open
    ? 'The key and the password are shown this once.'
    : 'The key and the password are not printed, for this may be a log.'
  const password = open
    ? shown.password
    : shown.file
      ? `in ${shown.file}`
      : 'reset it: npx trilho users reset-password'
  return `
  A demo was made for you. ${said}

    partner         ${demo.partner_id}
    console owner   ${demo.email}   ${password}
    customer        ${demo.customer.id}   ${demo.customer.name}, ${balances.map(formatMoney).join(', ')}

  Paste this into another terminal:

${indented(pasted(demo, url, shown))}
  Then try it:

    npx trilho customers balances $CUSTOMER
    curl "$TRILHO_URL/v1/customers/$CUSTOMER/balances" -H "Authorization: Bearer $TRILHO_KEY"

`
}

const indented = (lines: string) => lines.replaceAll(/^(?=.)/gm, '    ')

/** Secrets that could not be written to the file are not printed either: then the operator creates a new key. */
function pasted(demo: Demo, url: string, shown: Shown): string {
  if ('key' in shown) return exported(variablesOf(demo, url))
  if (shown.file) return `. ${shown.file}\n`
  const { TRILHO_URL, CUSTOMER } = variablesOf(demo, url)
  return exported({ TRILHO_URL, TRILHO_KEY: '… # make one: npx trilho keys create', CUSTOMER })
}
