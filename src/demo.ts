import { makeCpf } from './core/document.ts'
import { formatMoney, type Money, money } from './core/money.ts'
import { addCustomer } from './customers/customers.ts'
import type { Customer } from './customers/store.ts'
import { deposit } from './deposits/deposits.ts'
import { createKey } from './keys/keys.ts'
import { createPartner, createUser, listPartners, type Shared } from './partners/partners.ts'
import type { World } from './world.ts'

/** Something to try on a first start: a partner, its owner, a sandbox key and a customer with money in it. */
export type Demo = {
  readonly partner_id: string
  readonly email: string
  readonly password: string
  readonly key: string
  readonly customer: Customer
}

const balances: readonly Money[] = [
  money('BRL', 1_000_000n),
  money('USDT', 2_000_000_000n),
  money('BTC', 5_000_000n),
]

/** Nothing when there is a partner already: a demo is for an empty database only. */
export async function createDemo(shared: Shared, sandbox: World<'sandbox'>): Promise<Demo | undefined> {
  if ((await listPartners(shared)).length > 0) return undefined
  const partner = await createPartner(shared, 'Demo')
  const { user, password } = await createUser(shared, {
    email: 'owner@demo.example',
    name: 'Demo owner',
    partner_id: partner.id,
    role: 'owner',
  })
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

/** Printed once, to the terminal and never through the logger: the key and the password exist in no other place. */
export function renderDemo(demo: Demo, url: string): string {
  return `
  A demo was made for you. The key and the password are shown this once.

    partner         ${demo.partner_id}
    console owner   ${demo.email}   ${demo.password}
    sandbox key     ${demo.key}
    customer        ${demo.customer.id}   ${demo.customer.name}, ${balances.map(formatMoney).join(', ')}

  Try it:

    curl ${url}/v1/customers/${demo.customer.id}/balances -H "Authorization: Bearer ${demo.key}"

`
}
