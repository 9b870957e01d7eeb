import { createPrivateKey, randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CrashPoint } from '../../src/core/crash-point.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import { closeException } from '../../src/records/exceptions/store.ts'
import { dumpTables, spellingsOf, spellingsOfText } from '../chains/secrets.ts'
import { openApi, type Reply } from '../support/api.ts'
import { runCli } from '../support/cli.ts'
import { asAdmin, createDatabase } from '../support/database.ts'
import { scrape } from '../support/metrics.ts'
import { openDesk } from '../support/operators.ts'
import { countsIn, noteFact } from '../support/proof.ts'
import { isCut, retryUntilAnswered } from '../support/retry.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from '../support/service.ts'
import { size } from '../support/size.ts'
import { until } from '../support/wait.ts'
import type { ReceivedPayment, SentEnd, SentPayment } from './bank.ts'
import { type FaultPlan, openFaultPlan } from './chaos-faults.ts'
import { receivedNotice, sentNotice } from './efi-answers.ts'
import {
  type EfiCallName,
  type EfiStub,
  efiSettings,
  NOTICE_TOKEN,
  named,
  notFound,
  type SendBody,
  startEfiStub,
} from './efi-stub.ts'
import type { StubCall, StubFault, StubReply } from './provider-stub.ts'

/**
 * Two nodes pay and are paid over a stub of Efí, while their processes are killed at every point of a payout's and a charge's way, answers
 * are lost, late and doubled, tokens expire, the certificate is refused, and notices are lost, doubled and forged. At the end every payout
 * and every charge is as the bank has it, and nothing happened twice.
 */
const is_full = size(1, 0) === 1
const COUNT = size(500, 40)
const CUSTOMERS = size(20, 6)
const ROUNDS = size(2, 1)
const PATIENCE_MS = size(900_000, 180_000)
const FUNDS = 100_000_000n
const [LEASE_MS, RAIL_TIMEOUT_MS] = [4500, 1500]
const LATE_MS = 2000
/** Status queries and lists find a payment that came in so long after it. */
const HIDDEN_MS = 700

const points: readonly CrashPoint[] = [
  'before_send',
  'after_send',
  'before_settle',
  'before_register',
  'after_register',
  'before_credit',
  'before_answer',
  'after_lock',
  'before_commit',
  'after_commit',
]

type Node = Awaited<ReturnType<typeof spawnServer>>
type Customer = { readonly id: string; readonly document: string }
type Row<Columns extends string> = Readonly<Record<Columns, any>>

let efi: EfiStub
let plan: FaultPlan
let direct: ReturnType<typeof openDirectAccess>
let partner: { partner_id: string; key: string; key_id: string }
let env: Record<string, string>
let opening: bigint
const customers: Customer[] = []
const nodes: Node[] = []
const started: Node[] = []
const texts: string[] = []
const trouble = { cut: 0, unavailable: 0 }
const kills = new Map<string, number>()
const counted = { payouts: 0, charges: 0, repeated: 0, expired_tokens: 0, resumed: 0 }
const notices = { sent: 0, lost: 0, doubled: 0, forged: 0, refused: 0 }

beforeAll(async () => {
  efi = await startEfiStub()
  opening = efi.bank.balance().available
  const database = await createDatabase()
  direct = openDirectAccess(database)
  env = testEnv(database.url, {
    ...efiSettings(efi),
    ...{ LEASE_MS: `${LEASE_MS}`, RAIL_TIMEOUT_MS: `${RAIL_TIMEOUT_MS}`, PIX_WAIT_MS: '300' },
    ...{ EFI_AT_ONCE: '8', RECONCILE_EVERY_MS: '8000', LOG_LEVEL: 'debug' },
  })
  partner = await direct.partner('', { environment: 'production' })
})
afterAll(async () => {
  await Promise.all(started.map((node) => node.kill('SIGKILL')))
  await direct?.stop()
  await efi?.stop()
})

test(
  'payouts and charges over Efí end as the bank has them, each once',
  async () => {
    const began = performance.now()
    await openCustomers()
    efi.bank.decide(({ order }) => endOf(order as SendBody))
    efi.hideReceivedFor(HIDDEN_MS)
    efi.answerInstead(refusalOf)
    plan = openFaultPlan(efi, { late_ms: LATE_MS, target: aimed })
    nodes.push(...(await Promise.all([startNode(), startNode()])))

    await run()
    plan.end()
    efi.hideReceivedFor(0)
    await untilEnded()

    const payouts = await expectPayouts()
    const charges = await expectCharges()
    const received = await expectReceived()
    await expectBalances()
    await expectBooks(received.unknown)
    const returns = await expectReturns()
    await expectReconciled()
    const told = await expectTold()
    await expectExceptions()
    expect((await direct.audit()).production.findings).toEqual([])
    expectDisturbed()
    const searched = await expectNoSecrets()
    tell({
      payouts,
      charges,
      received,
      returns,
      told,
      searched,
      seconds: Math.round((performance.now() - began) / 1000),
    })
  },
  3 * PATIENCE_MS,
)

/** Orders, payers, operators, kills and faults, until each of them has done its part. */
async function run(): Promise<void> {
  const { signal } = stopping
  let is_killed = false
  const isEnough = () => signal.aborted || (is_killed && plan.missing().length === 0)
  const beside = [
    payCharges,
    endSlowPayments,
    payWithoutCharge,
    forgeNotices,
    expireTokens,
    resumeRail,
    giveBack,
    closeReturned,
  ]
  const background = Promise.all(beside.map((work) => work(signal)))
  const killing = killNodes().then(() => {
    is_killed = true
  })
  const ordering = [orderPayouts, orderPayouts, orderCharges, orderCharges].map((order) => order(isEnough))
  const enough = until(isEnough, PATIENCE_MS).catch(() => {
    throw new Error('not every fault was played')
  })
  const working = Promise.all([refuseCertificate(), killing, enough, ...ordering]).then(untilDone)
  try {
    await Promise.race([working, background.then(() => working)])
  } catch (error) {
    const missing = `not played: ${plan.missing().join(', ')}`
    throw new Error([(error as Error).message, missing, await lastWords()].join('\n'), { cause: error })
  } finally {
    stopping.abort()
  }
  await background
  await Promise.all(told)
}

const stopping = new AbortController()
const told: Promise<unknown>[] = []
const inBackground = (work: Promise<unknown>) => {
  work.catch(() => {})
  told.push(work)
}

const db = () => direct.worlds.production.db

async function openCustomers(): Promise<void> {
  const { propose, approve } = openDesk(() => direct.office)
  const world = direct.worlds.production
  const { partner_id } = partner
  for (let i = 0; i < CUSTOMERS; i++) {
    const document = someCpf()
    const { id } = await addCustomer(world, { partner_id, name: 'Ana Souza', document })
    const details = { partner_id, customer_id: id, asset: 'BRL', amount: `${FUNDS}` } as const
    const order = { ...details, reason: 'funding', reference: randomBytes(6).toString('hex') }
    const proposed = await propose(world, { name: 'credit', details: order }, 'maria@operator.example')
    await approve(world, proposed.id, 'joao@operator.example')
    customers.push({ id, document })
  }
  const move = { rail: 'pix', asset: 'BRL', direction: 'to_rail', amount: `${opening}` } as const
  const details = { ...move, reason: 'funding', reference: 'opening' }
  const moved = await propose(world, { name: 'move_custody', details }, 'maria@operator.example')
  await approve(world, moved.id, 'joao@operator.example')
}

async function startNode(more: Record<string, string> = {}): Promise<Node> {
  const node = await spawnServer({ ...env, ...more })
  started.push(node)
  return node
}

/** What the bank does with a payout, by its place in the run. */
const PAYOUT_FATES = [
  'settled',
  'slow',
  'refused',
  'mismatch',
  'unknown_key',
  'denied',
  'hidden',
  'slow_refused',
  'to_account',
] as const
type PayoutFate = (typeof PAYOUT_FATES)[number] | 'ours'

const SPI_CODES = ['AC03', 'AC06', 'AC07', 'BE01', 'AM02', 'AG03', 'DS04', 'FRAD', 'RR04', 'AB03'] as const
/** Rows that say that the fault is ours: each pauses the rail, until two operators resume it. */
const OURS = ['documento_bloqueado', 'chave_invalida', 'valor_invalido'] as const
const FIRST_OF_OURS = 9
/** Apart, so that each pauses the rail for itself where it can. */
const OURS_EVERY = 5

const REFUSALS = {
  mismatch: [400, 'chave_nao_pertence_ao_documento', 'recipient_document_mismatch'],
  unknown_key: [404, 'chave_favorecido_nao_encontrada', 'recipient_key_not_found'],
  denied: [422, 'pagamento_negado', 'provider_error'],
} as const

const oursOf = (index: number): (typeof OURS)[number] | undefined =>
  OURS[(index - FIRST_OF_OURS) / OURS_EVERY]
const payoutFate = (index: number): PayoutFate =>
  oursOf(index) ? 'ours' : PAYOUT_FATES[index % PAYOUT_FATES.length]!
const spiCode = (index: number) => SPI_CODES[Math.floor(index / PAYOUT_FATES.length) % SPI_CODES.length]!
const indexOf = (description: string | undefined): number => Number(/\d+$/.exec(description ?? '')?.[0])

function endOf({ pagador }: SendBody): SentEnd {
  const index = indexOf(pagador.infoPagador)
  const fate = payoutFate(index)
  if (fate === 'slow' || fate === 'slow_refused') return 'open'
  return fate === 'refused' ? { refused: spiCode(index) } : 'settled'
}

/** What payers do with a charge, by its place in the run. */
const CHARGE_FATES = [
  'exact',
  'partial',
  'early',
  'parts',
  'double',
  'late',
  'refused',
  'never',
  'partial_short',
  'never_short',
] as const
type ChargeFate = (typeof CHARGE_FATES)[number]
const SHORT = ['late', 'partial_short', 'never_short']
/** A charge that ends soon is ordered in the first half of the run, so that nobody waits for its end. */
const chargeFate = (index: number): ChargeFate => {
  const fate = CHARGE_FATES[index % CHARGE_FATES.length]!
  return SHORT.includes(fate) && index >= COUNT / 2 ? 'exact' : fate
}
const chargeRefusal = (index: number) => OURS[Math.floor(index / CHARGE_FATES.length) % OURS.length]!

/** How often Efí carried out an order, by its id. */
const taken = new Map<string, number>()
const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** What Efí answers in place of carrying out a call. */
function refusalOf(name: EfiCallName, { path, text }: StubCall): StubReply | undefined {
  const id = lastOf(path)
  if (name === 'send') {
    taken.set(id, (taken.get(id) ?? 0) + 1)
    if (efi.bank.sent.has(id)) return undefined
    const index = indexOf((JSON.parse(text) as SendBody).pagador.infoPagador)
    const fate = payoutFate(index)
    if (fate === 'ours') return named(400, oursOf(index)!)
    return fate in REFUSALS ? named(...refusalAnswer(fate as keyof typeof REFUSALS)) : undefined
  }
  // The payment was taken, and status queries do not show it until it is ordered again.
  if (name === 'status') {
    const payment = efi.bank.sent.get(id)
    return payment && isHidden(payment.order as SendBody) && taken.get(id) === 1 ? notFound : undefined
  }
  if (name !== 'charge') return undefined
  taken.set(id, (taken.get(id) ?? 0) + 1)
  const index = indexOf(JSON.parse(text).solicitacaoPagador)
  return chargeFate(index) === 'refused' ? named(400, chargeRefusal(index)) : undefined
}

const refusalAnswer = (fate: keyof typeof REFUSALS): [number, string] => [
  REFUSALS[fate][0],
  REFUSALS[fate][1],
]
const isHidden = ({ pagador }: SendBody) => payoutFate(indexOf(pagador.infoPagador)) === 'hidden'

/** Answers that must be lost: of a payment that is hidden, and of a charge that somebody pays before the service knows of it. */
function aimed(name: EfiCallName, { path, text }: StubCall): StubFault | undefined {
  const id = lastOf(path)
  if ((name !== 'send' && name !== 'charge') || taken.get(id) !== 1) return undefined
  if (name === 'send') return isHidden(JSON.parse(text)) ? { kind: 'lose' } : undefined
  if (chargeFate(indexOf(JSON.parse(text).solicitacaoPagador)) !== 'early') return undefined
  efi.bank.pay({ txid: id })
  return { kind: 'lose' }
}

/** Asks one node, then the other, until there is an answer. An order that was answered is sent once more. */
async function place(path: string, order: object): Promise<Reply> {
  const first = randomInt(2)
  const ask = (tries: number) => openApi(nodes[(first + tries) % 2]!.url, partner.key).post(path, order)
  const answer = await retryUntilAnswered(ask, trouble, PATIENCE_MS)
  expect(answer.status, answer.text).toBe(201)
  const again = await retryUntilAnswered((tries) => ask(tries + 1), trouble, PATIENCE_MS)
  expect(again.text).toBe(answer.text)
  counted.repeated++
  texts.push(answer.text)
  return answer
}

const amountOf = (index: number) => 1000n + BigInt(index)
const customerOf = (index: number) => customers[index % customers.length]!
const pause = (count: number) => sleep(randomInt(count < COUNT ? size(800, 1600) : 4000))

async function orderPayouts(isEnough: () => boolean): Promise<void> {
  while (counted.payouts < COUNT || !isEnough()) {
    const index = counted.payouts++
    const { id: customer_id, document } = customerOf(index)
    const account = { ispb: '60701190', branch: '0001', account_number: `${10_000 + index}`, document }
    const counterparty =
      payoutFate(index) === 'to_account'
        ? { type: 'bank_account', account_type: 'checking', name: 'Ana Souza', ...account }
        : { type: 'pix_key', pix_key: `ana${index}@example.com` }
    const order = { customer_id, amount: `${amountOf(index)}`, counterparty }
    await place('/v1/pix/payouts', {
      ...order,
      ...{ description: `payout-${index}`, idempotency_key: `payout-${index}` },
    })
    await pause(index)
  }
}

async function orderCharges(isEnough: () => boolean): Promise<void> {
  while (counted.charges < COUNT || !isEnough()) {
    const index = counted.charges++
    const is_short = SHORT.includes(chargeFate(index))
    await place('/v1/pix/charges', {
      ...{ customer_id: customerOf(index).id, amount: `${amountOf(index)}` },
      ...{ description: `charge-${index}`, idempotency_key: `charge-${index}` },
      ...(is_short ? { expires_in_seconds: 60 } : {}),
    })
    await pause(index)
  }
}

type StoredCharge = Row<
  | 'id'
  | 'txid'
  | 'status'
  | 'amount'
  | 'amount_received'
  | 'description'
  | 'expires_at'
  | 'failure_code'
  | 'rail_code'
>
const storedCharges = async (): Promise<StoredCharge[]> =>
  (
    await db().query(
      'SELECT id, txid, status, amount, amount_received, description, expires_at, failure_code, rail_code FROM pix_charges ORDER BY id',
    )
  ).rows

/** Charges with which their payers are done. */
const done_with = new Set<string>()

/** What a payer does now; undefined: nothing yet. */
function paymentsOf({ status, amount, description }: StoredCharge): readonly bigint[] | undefined {
  const fate = chargeFate(indexOf(description))
  if (fate === 'late') return status === 'expired' ? [amount] : status === 'failed' ? [] : undefined
  if (status === 'pending') return undefined
  if (fate === 'partial' || fate === 'partial_short') return [amount / 2n]
  if (fate === 'parts') return [amount / 3n, amount - amount / 3n]
  if (fate === 'double') return [amount, amount]
  return fate === 'exact' ? [amount] : []
}

async function payCharges(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const charge of await storedCharges()) {
      const payments = done_with.has(charge.txid) ? undefined : paymentsOf(charge)
      if (!payments) continue
      done_with.add(charge.txid)
      for (const amount of payments) inBackground(notifyReceived(efi.bank.pay({ txid: charge.txid, amount })))
    }
    await sleep(250)
  }
}

/** Payers of late charges wait for their end, and operators for the refusals that are our fault. */
const untilDone = () =>
  until(async () => {
    if (!is_full) await hurry()
    const is_paid = (await storedCharges()).every(({ txid }) => done_with.has(txid))
    const { rows } = await db().query(
      `SELECT (SELECT count(*) FROM payouts WHERE status = 'failed' AND rail_code = ANY($1)) = $2
        AND NOT EXISTS (SELECT FROM rail_controls WHERE paused_at IS NOT NULL) AS done`,
      [OURS, OURS.length],
    )
    return is_paid && rows[0].done
  }, PATIENCE_MS).catch(() => {
    throw new Error('not every charge was paid, or the rail is paused')
  })

/** A notice to a node; one that is down at this moment gets none. */
async function notify(body: unknown, token = NOTICE_TOKEN, at = randomInt(2)): Promise<void> {
  const path = `/rails/pix/efi/${token}?ignorar=`
  const headers = { 'content-type': 'application/json' }
  try {
    const { status } = await fetch(nodes[at]!.url + path, {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
    })
    if (token !== NOTICE_TOKEN) {
      expect(status).toBe(404)
      notices.refused++
    }
  } catch (error) {
    if (!isCut(error)) throw error
  }
}

let told_of = 0

/** One notice in five is lost, one comes twice, and one when lists show the payment. The others come before that. */
async function deliver(body: unknown): Promise<void> {
  const turn = told_of++ % 5
  if (turn === 0) return void notices.lost++
  if (turn === 1) {
    notices.doubled++
    return void (await Promise.all([notify(body, NOTICE_TOKEN, 0), notify(body, NOTICE_TOKEN, 1)]))
  }
  if (turn === 2) await sleep(HIDDEN_MS + 100)
  notices.sent++
  await notify(body)
}

const notifyReceived = (payment: ReceivedPayment) => deliver(receivedNotice(payment))
const notifySent = (payment: SentPayment) => deliver(sentNotice(payment))

const SLOW_MS = 6000

/** Payments that stay under way for a while. */
async function endSlowPayments(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const since = Date.now() - SLOW_MS
    for (const payment of efi.bank.sent.values()) {
      if (payment.end !== 'open' || payment.taken_at > since) continue
      endSlow(payment)
      inBackground(notifySent(payment))
    }
    await sleep(250)
  }
}

function endSlow(payment: SentPayment): void {
  const index = indexOf((payment.order as SendBody).pagador.infoPagador)
  payment.end = payoutFate(index) === 'slow' ? 'settled' : { refused: spiCode(index) }
}

const RETURNS_EVERY_MS = size(1500, 2500)

/**
 * Recipients give payouts back, and the operator gives payments back in the bank's app: all of it, or a part, and then another part.
 * Payments without a charge are left alone.
 */
async function giveBack(signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    await sleep(RETURNS_EVERY_MS, undefined, { signal }).catch(() => {})
    const { sent, received } = efi.bank
    const payout = [...sent.values()].find(({ end, returns }) => end === 'settled' && returns.length === 0)
    const payment = [...received.values()].find((one) => isOurs(one) && one.returns.length === 0)
    const parts = turn % 3 === 0 ? [undefined] : turn % 3 === 1 ? [200n] : [100n, 50n]
    for (const amount of parts) {
      const given = amount === undefined ? {} : { amount }
      if (turn % 2 === 0 && payout) efi.bank.comeBack(payout.id, given)
      if (turn % 2 === 1 && payment) efi.bank.giveBack(payment.end_to_end_id, given)
    }
    if (turn % 2 === 0 && payout) inBackground(notifySent(payout))
    if (turn % 2 === 1 && payment) inBackground(notifyReceived(payment))
  }
}

const isOurs = ({ txid }: ReceivedPayment) => txid !== undefined && efi.bank.charges.has(txid)
const returnsOf = (payments: Iterable<SentPayment | ReceivedPayment>) =>
  [...payments].flatMap(({ returns }) => returns)
const allReturns = () => [...returnsOf(efi.bank.sent.values()), ...returnsOf(efi.bank.received.values())]

const UNKNOWN_EVERY_MS = size(6000, 5000)
const someTxid = () => `TRILHO${randomBytes(13).toString('hex')}`

/** Payments to the key itself, with a code of somebody else, and with a txid that looks like one of ours. */
async function payWithoutCharge(signal: AbortSignal): Promise<void> {
  const scans = async () => (await db().query('SELECT FROM pix_received_scan')).rows.length
  // Payments count from the first reading on.
  await until(async () => (await scans()) > 0, PATIENCE_MS)
  for (let turn = 0; !signal.aborted; turn++) {
    const txid = [undefined, 'loja0000000000000000000000001', someTxid()][turn % 3]
    const payment = efi.bank.pay({ ...(txid === undefined ? {} : { txid }), amount: 1n + BigInt(turn) })
    inBackground(notifyReceived(payment))
    await sleep(UNKNOWN_EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** Notices of payments that nobody made, of ends that are not true, and with another token. */
async function forgeNotices(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const [charge] = [...efi.bank.charges.values()].slice(-1)
    const made_up = `E60701190202611181200${randomBytes(6).toString('hex').slice(0, 11)}`
    const paid = { endToEndId: made_up, txid: charge?.txid ?? someTxid(), valor: '10.00' }
    await notify({ pix: [{ ...paid, chave: efi.pix_key, horario: new Date().toISOString() }] })
    for (const { id, end_to_end_id } of [...efi.bank.sent.values()].slice(-2)) {
      const claim = { endToEndId: end_to_end_id, tipo: 'SOLICITACAO', gnExtras: { idEnvio: id } }
      await notify({ pix: [{ ...claim, status: 'REALIZADO' }] })
      await notify({ pix: [{ ...claim, status: 'NAO_REALIZADO' }] })
    }
    notices.forged++
    await notify({ pix: [paid] }, `${NOTICE_TOKEN.slice(0, -1)}x`)
    await sleep(size(1500, 1000), undefined, { signal }).catch(() => {})
  }
}

async function expireTokens(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(randomInt(4000), undefined, { signal }).catch(() => {})
    efi.expireTokens()
    counted.expired_tokens++
  }
}

const CERTIFICATE_MS = size(8000, 4000)

/** Efí does not know the certificate for a while. */
async function refuseCertificate(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    await sleep(15_000, undefined, { signal: stopping.signal }).catch(() => {})
    efi.refuseCertificate(true)
    await sleep(CERTIFICATE_MS)
    efi.refuseCertificate(false)
  }
}

/** Two operators resume the rail after a refusal that is our fault. Every other pause is a false alarm. */
async function resumeRail(signal: AbortSignal): Promise<void> {
  const { propose, approve } = openDesk(() => direct.office)
  const world = direct.worlds.production
  while (!signal.aborted) {
    const { rows } = await db().query(
      `SELECT paused_reason FROM rail_controls WHERE rail = 'pix' AND paused_at IS NOT NULL`,
    )
    if (rows.length > 0) {
      expect(rows[0].paused_reason).toMatch(
        new RegExp(`^The provider refused payout \\S+ with (${OURS.join('|')}):`),
      )
      const action = { name: 'resume_rail', details: { rail: 'pix', reason: 'looked up' } } as const
      const { id } = await propose(world, action, 'maria@operator.example')
      await approve(world, id, 'joao@operator.example')
      counted.resumed++
    }
    await sleep(300)
  }
}

/** Operators look at every second payout that came back, and close its exception: a further return opens another one. */
async function closeReturned(signal: AbortSignal): Promise<void> {
  const seen = new Set<string>()
  while (!signal.aborted) {
    const { rows } = await db().query(
      `SELECT id FROM exceptions WHERE kind = 'payout_returned' AND closed_at IS NULL ORDER BY opened_at, id`,
    )
    for (const { id } of rows) {
      if (seen.has(id)) continue
      if (seen.size % 2 === 0)
        await closeException(db(), { id, closed_by: 'maria@operator.example', closed_reason: 'looked up' })
      seen.add(id)
    }
    await sleep(500)
  }
}

const noteKill = (at: string) => kills.set(at, (kills.get(at) ?? 0) + 1)

/** A node that dies before it is ready has found its work, and its end, early. */
async function startDoomed(point: CrashPoint): Promise<Node | undefined> {
  try {
    return await startNode({ CRASH_AT: point })
  } catch (error) {
    if (!/ended with SIGKILL/.test((error as Error).message)) throw error
    return undefined
  }
}

/** In turn one of the nodes dies at each point, and every now and then one anywhere. */
async function killNodes(): Promise<void> {
  const doomed = Array.from({ length: ROUNDS }, () => points).flat()
  for (const [index, point] of doomed.entries()) {
    const at = index % 2
    await nodes[at]!.kill('SIGTERM')
    const node = await startDoomed(point)
    if (node) {
      nodes[at] = node
      await until(() => node.process.signalCode === 'SIGKILL', PATIENCE_MS).catch(() => {
        throw new Error(`no node reached ${point}`)
      })
    }
    noteKill(point)
    nodes[at] = await startNode()
    if (index % 3 !== 2) continue
    const other = 1 - at
    await sleep(randomInt(3000))
    await nodes[other]!.kill('SIGKILL')
    noteKill('anywhere')
    nodes[other] = await startNode()
  }
}

/** The reduced form does not wait for the pauses between two questions. */
async function hurry(): Promise<void> {
  const later = `next_attempt_at > now() + interval '${LEASE_MS + 500} ms'`
  await asAdmin(direct.database.url, [
    `UPDATE live.payouts SET next_attempt_at = now() WHERE status IN ('pending', 'processing') AND ${later}`,
    `UPDATE live.pix_charges SET next_attempt_at = now() WHERE status = 'pending' AND ${later}`,
  ])
}

/** Everything that will end has ended, and every payment that came in is stored. */
async function untilEnded(): Promise<void> {
  const open = async () => {
    for (const payment of efi.bank.sent.values()) if (payment.end === 'open') endSlow(payment)
    if (!is_full) await hurry()
    const { rows } = await db().query(
      `SELECT (SELECT count(*)::integer FROM payouts WHERE status IN ('pending', 'processing')) AS payouts,
        (SELECT count(*)::integer FROM pix_charges WHERE status = 'pending' OR status = 'open' AND expires_at < now()) AS charges,
        (SELECT count(*)::integer FROM pix_received) AS received,
        (SELECT count(*)::integer FROM pix_returns WHERE state = 'booked') AS returns`,
    )
    const { received, returns } = rows[0]
    return {
      ...rows[0],
      received: efi.bank.received.size - received,
      returns: allReturns().length - returns,
    }
  }
  const isOver = async () => Object.values(await open()).every((count) => count === 0)
  await until(async () => {
    const is_over = await isOver()
    if (!is_over) await sleep(500)
    return is_over
  }, PATIENCE_MS).catch(async () => {
    throw new Error(`still open: ${countsIn(await open())}\n${await lastWords()}`)
  })
}

/** For a run that does not end well: what is open, exceptions, and the newest warnings of the nodes. */
async function lastWords(): Promise<string> {
  const { rows } = await db().query(
    `SELECT row_to_json(p)::text AS line FROM payouts p WHERE status IN ('pending', 'processing')
      UNION ALL SELECT row_to_json(c)::text FROM pix_charges c WHERE status = 'pending' OR status = 'open' AND expires_at < now()
      UNION ALL SELECT row_to_json(e)::text FROM exceptions e WHERE closed_at IS NULL
      UNION ALL SELECT row_to_json(s)::text FROM pix_received_scan s`,
  )
  const warnings = nodes.flatMap((node) =>
    node
      .output()
      .split('\n')
      .filter((line) => /"level":(40|50|60)/.test(line))
      .slice(-20),
  )
  return [...rows.map(({ line }) => line), ...warnings].join('\n')
}

type StoredPayout = Row<
  | 'id'
  | 'customer_id'
  | 'send_id'
  | 'amount'
  | 'fee'
  | 'status'
  | 'end_to_end_id'
  | 'failure_code'
  | 'rail_code'
  | 'description'
>
const storedPayouts = async (): Promise<StoredPayout[]> =>
  (
    await db().query(
      'SELECT id, customer_id, send_id, amount, fee, status, end_to_end_id, failure_code, rail_code, description FROM payouts ORDER BY id',
    )
  ).rows

/** Completed is what the bank has settled, and failed what it has not paid: each order once. */
async function expectPayouts(): Promise<{ completed: number; failed: number }> {
  const rows = await storedPayouts()
  expect(rows.map(({ description }) => indexOf(description)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: counted.payouts }, (_, index) => index),
  )
  for (const row of rows) {
    const payment = efi.bank.sent.get(row.send_id)
    const expected =
      payment?.end === 'settled'
        ? { status: 'completed', end_to_end_id: payment.end_to_end_id, amount: payment.amount }
        : { status: 'failed', end_to_end_id: null, ...failureOf(row, payment) }
    expect(row, row.description).toMatchObject(expected)
  }
  // One payment to each recipient at the most, whatever its id.
  const recipients = [...efi.bank.sent.values()].map(({ order }) =>
    JSON.stringify((order as SendBody).favorecido),
  )
  expect(new Set(recipients).size).toBe(recipients.length)
  const ids = new Set(rows.map(({ send_id }) => send_id))
  expect([...efi.bank.sent.keys()].filter((id) => !ids.has(id))).toEqual([])
  const completed = rows.filter(({ status }) => status === 'completed').length
  return { completed, failed: rows.length - completed }
}

function failureOf({ description }: StoredPayout, payment: SentPayment | undefined) {
  const index = indexOf(description)
  const fate = payoutFate(index)
  if (payment) return { rail_code: (payment.end as { refused: string }).refused }
  if (fate === 'ours') return { rail_code: oursOf(index), failure_code: 'provider_error' }
  // A payout that waited for too long to be handed over.
  if (!(fate in REFUSALS)) return { rail_code: 'never_sent' }
  const [, rail_code, failure_code] = REFUSALS[fate as keyof typeof REFUSALS]
  return { rail_code, failure_code }
}

const sumOf = (parts: readonly { readonly amount: bigint }[]): bigint =>
  parts.reduce((sum, { amount }) => sum + amount, 0n)

async function expectCharges(): Promise<Record<string, number>> {
  const rows = await storedCharges()
  expect(rows.map(({ description }) => indexOf(description)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: counted.charges }, (_, index) => index),
  )
  const counts: Record<string, number> = {}
  for (const row of rows) {
    const paid = sumOf([...efi.bank.received.values()].filter(({ txid }) => txid === row.txid))
    const refusal =
      chargeFate(indexOf(row.description)) === 'refused' ? chargeRefusal(indexOf(row.description)) : null
    // A charge whose registration found no answer until its end.
    const is_failed = refusal !== null || row.failure_code === 'provider_unreachable'
    const is_over = row.expires_at.getTime() < Date.now()
    const status = is_failed ? 'failed' : paid >= row.amount ? 'paid' : is_over ? 'expired' : 'open'
    expect(row, row.description).toMatchObject({ status, amount_received: paid })
    if (row.failure_code === 'provider_unreachable') expect(is_over).toBe(true)
    else expect(row.rail_code).toBe(refusal)
    expect(efi.bank.charges.has(row.txid)).toBe(refusal === null || efi.bank.charges.has(row.txid))
    counts[status] = (counts[status] ?? 0) + 1
  }
  const ids = new Set(rows.map(({ txid }) => txid))
  expect([...efi.bank.charges.keys()].filter((txid) => !ids.has(txid))).toEqual([])
  return counts
}

type Counted = { readonly credited: number; readonly unknown: bigint; readonly unknown_count: number }

/** Each payment of a charge is one deposit; the others are none. */
async function expectReceived(): Promise<Counted> {
  const { rows } = await db().query(
    `SELECT r.end_to_end_id, r.amount, d.amount AS credited, c.txid FROM pix_received r LEFT JOIN deposits d ON d.end_to_end_id = r.end_to_end_id
      LEFT JOIN pix_charges c ON c.id = d.charge_id ORDER BY r.end_to_end_id`,
  )
  const all = [...efi.bank.received.values()].sort((a, b) => (a.end_to_end_id < b.end_to_end_id ? -1 : 1))
  expect(rows).toEqual(
    all.map((one) => ({
      ...{ end_to_end_id: one.end_to_end_id, amount: one.amount },
      ...(isOurs(one) ? { credited: one.amount, txid: one.txid } : { credited: null, txid: null }),
    })),
  )
  const { rows: deposits } = await db().query(
    `SELECT count(*)::integer AS count FROM deposits WHERE rail = 'pix'`,
  )
  const credited = all.filter(isOurs).length
  expect(deposits[0].count).toBe(credited)
  const unknown = all.filter((one) => !isOurs(one))
  return { credited, unknown: sumOf(unknown), unknown_count: unknown.length }
}

/** What a customer has follows from the bank alone: the documents of recipients, and the charges that were paid. */
async function expectBalances(): Promise<void> {
  const fees = new Map<string, bigint>()
  for (const { customer_id, status, fee } of await storedPayouts())
    if (status === 'completed') fees.set(customer_id, (fees.get(customer_id) ?? 0n) + fee)
  for (const { id, document } of customers) {
    const sent = [...efi.bank.sent.values()].filter(
      ({ end, order }) => end === 'settled' && JSON.stringify(order).includes(`"${document}"`),
    )
    const received = [...efi.bank.received.values()].filter(({ txid }) => {
      const charge = efi.bank.charges.get(txid ?? '')
      return charge && customerOf(indexOf(charge.description)).id === id
    })
    const { json, text } = await retryUntilAnswered(
      (tries) => openApi(nodes[tries % 2]!.url, partner.key).get(`/v1/customers/${id}/balances`),
      trouble,
    )
    texts.push(text)
    const shown = json.data.find((one: { asset: string }) => one.asset === 'BRL')
    const back = sumOf(returnsOf(sent)) - sumOf(returnsOf(received))
    const expected = FUNDS - sumOf(sent) + sumOf(received) + back - (fees.get(id) ?? 0n)
    expect(shown, id).toMatchObject({ available: `${expected}`, in_transit: '0' })
  }
}

/** The books of the rail have moved as the bank's balance has, except for what nobody was credited. */
async function expectBooks(unknown: bigint): Promise<void> {
  const { rows } = await db().query(
    `SELECT sum(amount)::text AS sum FROM entries WHERE account = 'external:pix'`,
  )
  const { available } = efi.bank.balance()
  expect(-BigInt(rows[0].sum)).toBe(available - unknown)
  const { code, out, err } = await runCli(['rails', 'check', '--json'], env)
  expect(code, err).toBe(0)
  expect(JSON.parse(out).pix).toMatchObject({
    available: `${available}`,
    problem: null,
    charges_problem: null,
  })
  texts.push(out)
}

/** Each return is booked once, on the side of its payment. */
async function expectReturns(): Promise<{ payouts: number; received: number }> {
  const { rows } = await db().query(
    `SELECT r.return_id, r.amount, coalesce(p.end_to_end_id, d.end_to_end_id) AS end_to_end_id FROM pix_returns r
      LEFT JOIN payouts p ON p.id = r.payout_id LEFT JOIN deposits d ON d.id = r.deposit_id ORDER BY r.return_id`,
  )
  const { sent, received } = efi.bank
  const expected = [...sent.values(), ...received.values()].flatMap(({ end_to_end_id, returns }) =>
    returns.map(({ id, amount }) => ({ return_id: id, amount, end_to_end_id })),
  )
  expect(rows).toEqual(expected.sort((a, b) => (a.return_id < b.return_id ? -1 : 1)))
  const counts = {
    payouts: returnsOf(sent.values()).length,
    received: returnsOf(received.values()).length,
  }
  expect(counts.payouts).toBeGreaterThan(2)
  expect(counts.received).toBeGreaterThan(2)
  return counts
}

/**
 * Each payout that came back was told to the desk, and no other one: once for its first return, and again for a further return that came
 * after somebody had closed the exception.
 */
async function expectTold(): Promise<{ open: number; closed: number }> {
  const { rows } = await db().query(
    `SELECT p.send_id, e.closed_at IS NULL AS is_open, e.details ->> 'return_id' AS return_id FROM exceptions e
      LEFT JOIN payouts p ON p.id = e.object_id WHERE e.kind = 'payout_returned' ORDER BY e.opened_at, e.id`,
  )
  const told = new Map<string, Row<'is_open' | 'return_id'>[]>()
  for (const row of rows) told.set(row.send_id, [...(told.get(row.send_id) ?? []), row])
  const returned = [...efi.bank.sent.values()].filter(({ returns }) => returns.length > 0)
  expect([...told.keys()].sort()).toEqual(returned.map(({ id }) => id).sort())
  for (const { id, returns } of returned) {
    const of = told.get(id)!
    const ids = of.map(({ return_id }) => return_id)
    expect(new Set(ids).size, id).toBe(ids.length)
    expect(
      ids.filter((return_id) => !returns.some((one) => one.id === return_id)),
      id,
    ).toEqual([])
    expect(of.filter(({ is_open }) => is_open).length, id).toBeLessThanOrEqual(1)
    // A return without an exception of its own came while the one before was open.
    if (ids.length < returns.length) expect(ids.length, id).toBeGreaterThan(0)
  }
  const open = rows.filter(({ is_open }) => is_open).length
  const counts = { open, closed: rows.length - open }
  expect(counts.closed).toBeGreaterThan(0)
  return counts
}

/** The service's own comparison with the account at the bank. */
async function expectReconciled(): Promise<void> {
  const { code, out, err } = await runCli(['reconcile', '--json'], env)
  expect(code, err).toBe(0)
  texts.push(out)
  const { data } = JSON.parse(out)
  expect(data.map(({ rail, difference }: Row<'rail' | 'difference'>) => [rail, difference])).toEqual([
    ['pix', '0'],
  ])
}

async function expectExceptions(): Promise<void> {
  const { rows } = await db().query(
    // The audit of the nodes finds that the key was made by this test, and not by an operator.
    `SELECT kind, object_id FROM exceptions WHERE closed_at IS NULL AND (kind, object_id) <> ('audit', $1)
      AND kind <> 'payout_returned' ORDER BY kind, object_id`,
    [partner.key_id],
  )
  const isUnknown = ({ txid }: ReceivedPayment) => txid === undefined || !efi.bank.charges.has(txid)
  const unknown = [...efi.bank.received.values()].filter(isUnknown)
  expect(rows).toEqual(
    unknown
      .map(({ end_to_end_id }) => ({ kind: 'unknown_payment', object_id: end_to_end_id }))
      .sort((a, b) => (a.object_id < b.object_id ? -1 : 1)),
  )
}

/** Nothing passes because nothing happened. */
function expectDisturbed(): void {
  expect(plan.missing()).toEqual([])
  for (const point of points) expect(kills.get(point), point).toBe(ROUNDS)
  expect(kills.get('anywhere')).toBe(Math.floor((points.length * ROUNDS) / 3))
  expect(counted.payouts).toBeGreaterThanOrEqual(COUNT)
  expect(counted.charges).toBeGreaterThanOrEqual(COUNT)
  // Two of these refusals at the same time pause the rail once.
  expect(counted.resumed).toBeGreaterThan(0)
  expect(efi.refused()).toBeGreaterThan(0)
  for (const [name, count] of Object.entries(notices)) expect(count, name).toBeGreaterThan(0)
  for (const fate of CHARGE_FATES)
    expect(Array.from({ length: counted.charges }, (_, index) => chargeFate(index))).toContain(fate)
}

/** Secret, key, certificate's key and tokens are in no log, table, answer or metric. */
async function expectNoSecrets(): Promise<string> {
  const { client_id, client_secret, certificate } = efi
  const pem = certificate.slice(certificate.indexOf('-----BEGIN PRIVATE KEY'))
  const key = createPrivateKey(pem)
  const scalar = Buffer.from(key.export({ format: 'jwk' }).d!, 'base64url')
  const spellings = [
    ...spellingsOfText(client_secret),
    ...spellingsOfText(`${client_id}:${client_secret}`),
    ...spellingsOfText(NOTICE_TOKEN),
    ...spellingsOf(scalar),
    ...pem.split('\n').filter((line) => line.length > 40 && !line.startsWith('-')),
    ...efi.tokens,
  ]
  for (const { url } of nodes) {
    const api = openApi(url, partner.key)
    const lists = ['/v1/pix/payouts', '/v1/pix/charges', '/v1/deposits', '/v1/events']
    const pages = await Promise.all(lists.map((path) => api.get(`${path}?limit=100`)))
    texts.push(...pages.map(({ text }) => text), await scrape(url))
  }
  const searched = {
    'the logs of all processes': started.map((node) => node.output()).join('\n'),
    'all tables': await dumpTables(direct.database.url),
    'answers and metrics': texts.join('\n'),
  }
  for (const [name, text] of Object.entries(searched)) {
    expect(text.length, name).toBeGreaterThan(1000)
    for (const spelling of spellings)
      if (text.includes(spelling)) throw new Error(`a secret is in ${name}: ${spelling.slice(0, 6)}…`)
  }
  return Object.entries(searched)
    .map(([name, text]) => `${name} (${Math.round(text.length / 1024)} KiB)`)
    .join(', ')
}

function tell(figures: {
  payouts: { completed: number; failed: number }
  charges: Record<string, number>
  received: Counted
  returns: { payouts: number; received: number }
  told: { open: number; closed: number }
  searched: string
  seconds: number
}): void {
  const { payouts, charges, received, returns, told, searched, seconds } = figures
  noteFact(
    `${counted.payouts} payouts and ${counted.charges} charges over a stub of Efí, by 2 nodes on one database, in ${seconds} s: payouts ${countsIn(payouts)}, each as the bank has it and at most one payment per recipient; charges ${countsIn(charges)}, with what the bank received for each`,
  )
  noteFact(
    `${received.credited} payments that came in for charges credited once each; ${received.unknown_count} without a charge are exceptions, and nothing was credited; each customer’s balance follows from the bank alone, the books of external:pix moved as the bank’s balance, reconciliation 0, audit clean`,
  )
  noteFact(
    `Pix, ${returns.payouts} returns of payouts and ${returns.received} of payments that came in, whole and in parts: each booked once; each payout that came back was told to the desk, by ${told.open} exceptions that are open and ${told.closed} that an operator closed`,
  )
  noteFact(`Pix, kill -9: ${countsIn(Object.fromEntries(kills))}`)
  noteFact(
    `Pix, ${sumOfCounts(plan.played)} faults of ${plan.played.size} kinds: every answer of the catalogue lost, late and doubled; ${counted.expired_tokens} × all tokens expired, ${efi.refused()} connections refused because of the certificate, notices ${countsIn(notices)}; the rail was paused ${counted.resumed} × by a refusal that was our fault, and two operators resumed it`,
  )
  noteFact(
    `Pix, ${counted.repeated} orders sent again under their idempotency key, ${trouble.cut} connections broken and ${trouble.unavailable} answers 503 among them: one resource and one answer each`,
  )
  noteFact(
    `Pix, no client secret, certificate key, access token or notice token, raw, as hex or as base64, in ${searched}`,
  )
}

const sumOfCounts = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0)
