import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  askedCharge,
  balanceAnswers,
  chargeAnswer,
  chargeDuplicate,
  type DocumentedEfiAnswer,
  notices,
  receivedList,
  receivedNotFound,
  receivedPayment,
  sendAnswer,
  sendErrors,
  sentNotFound,
  sentToAccount,
  sentToKey,
  webhookAnswer,
} from '../../../../test/pix/efi-documented.ts'
import { type EfiCallName, type EfiStub, startEfiStub } from '../../../../test/pix/efi-stub.ts'
import { makeBrCode } from '../../../core/br-code.ts'
import { systemClock } from '../../../core/clock.ts'
import { money } from '../../../core/money.ts'
import type { ChargeOrder, PixOrder } from '../rail.ts'
import { failureCodeOf, readCharge } from './bodies.ts'
import { readClientCertificate } from './certificate.ts'
import { openEfi } from './rail.ts'

/** The words of Efí's own documentation go through the client as they are printed, byte by byte. */
let efi: EfiStub
let rail: ReturnType<typeof openEfi>

/** The receiver's key of the documented charge. */
const PIX_KEY = 'a1f4102e-a446-4a57-bcce-6fa48899c1d1'

beforeEach(async () => {
  efi = await startEfiStub()
  const { url, ca, client_id, client_secret, certificate } = efi
  rail = openEfi({
    access: { url, ca, client_id, client_secret, certificate: readClientCertificate(certificate) },
    ...{ pix_key: PIX_KEY, at_once: 1, timeout_ms: 60_000, clock: systemClock() },
    log: pino({ level: 'silent' }),
  })
})
afterEach(async () => {
  await rail.stop()
  await efi.stop()
})

const answerWith = (name: EfiCallName, { http, text }: Pick<DocumentedEfiAnswer, 'http' | 'text'>) =>
  efi.spoil(name, { kind: 'answer', reply: { http, text } })

const orderOf = (send_id: string, centavos: bigint): PixOrder => ({
  ...{ send_id, amount: money('BRL', centavos), description: null, sent_at: new Date(), attempt: 1 },
  to: { pix_key: 'ana@example.com', name: 'Ana Souza', document: '52998224725' },
})

describe('a payment that is sent', () => {
  test('is taken', async () => {
    answerWith('send', sendAnswer)
    expect(await rail.send(orderOf('12453567890123456789', 1231n))).toEqual({ kind: 'accepted' })
  })

  test.each(sendErrors)('is answered with %i %s', async (http, text, kind) => {
    answerWith('send', { http, text })
    const said = await rail.send(orderOf('12453567890123456789', 1231n))
    expect(said).toMatchObject({
      kind,
      ...(kind === 'refused' ? { rail_code: JSON.parse(text).nome } : {}),
    })
  })

  test.each([
    ['identificadoEnvio123456789', sentToKey, 'E09089356202210251208APIcdbe38b4'],
    ['4', sentToAccount, 'E09089356202210262021APIbh1457fa'],
  ] as const)('is found under %s', async (send_id, said, end_to_end_id) => {
    answerWith('status', said)
    expect(await rail.status(orderOf(send_id, 1n))).toEqual({ kind: 'settled', end_to_end_id })
    answerWith('returns', said)
    expect(await rail.returnsOf(end_to_end_id)).toEqual([])
  })

  test('is not found', async () => {
    answerWith('status', sentNotFound)
    expect(await rail.status(orderOf('4', 1n))).toEqual({ kind: 'absent' })
  })
})

describe('a payment that came in', () => {
  test('is listed, with what was given back of it', async () => {
    const page = JSON.parse(receivedList.text)
    // The second page of the example is not printed.
    const one_page = receivedList.text.replace('"quantidadeDePaginas": 2', '"quantidadeDePaginas": 1')
    expect(one_page).not.toBe(receivedList.text)
    answerWith('received', { http: 200, text: one_page })
    const seen = []
    for await (const one of rail.charges.received({ from: new Date(0), to: new Date() })) seen.push(one)
    expect(seen).toEqual([
      {
        end_to_end_id: 'E182361232022110114206014506ed00',
        ...{ txid: '465669b3847d4a30ae14848c5d4d1683', amount: 1n, returns: [] },
        paid_at: new Date('2022-11-01T14:20:41.425Z'),
      },
      {
        end_to_end_id: 'E18236129202210311159s01f572d8b1',
        ...{ txid: '0002712070000000000000209BONAE2', amount: 500n, returns: [] },
        paid_at: new Date('2022-10-31T11:59:13.220Z'),
      },
      {
        end_to_end_id: 'E18236126202210091755s13093ea838',
        ...{ txid: 'fc9a4386fefdh964b5dbc6c91a8722d5', amount: 2n },
        paid_at: new Date('2022-10-19T17:56:09.173Z'),
        returns: [
          { id: 'D09089556202210191757eeb3cf6972c', amount: 1n, state: 'settled' },
          { id: 'D09089356002210191757c95a3620972', amount: 1n, state: 'settled' },
        ],
      },
    ])
    expect(seen).toHaveLength(page.pix.length)
  })

  test('is asked about', async () => {
    answerWith('payment', receivedPayment)
    expect(await rail.charges.payment('E12345678202009091221abcdef12345')).toEqual({
      end_to_end_id: 'E12345678202009091221abcdef12345',
      ...{ txid: 'cd1fe328c875481285a6f233ae41b662', amount: 10_000n },
      paid_at: new Date('2020-09-10T13:03:33.902Z'),
      returns: [{ id: 'D12345678202009091000abcde123456', amount: 1100n, state: 'open' }],
    })
    answerWith('payment', receivedNotFound)
    expect(await rail.charges.payment('E12345678202009091221abcdef12345')).toBeUndefined()
  })
})

describe('a charge', () => {
  const created_at = new Date('2020-09-09T20:15:00.358Z')
  const order: ChargeOrder = {
    ...{ txid: '7978c0c97ea847e78e8849634473c1f1', amount: money('BRL', 56_789n), created_at },
    ...{ expires_at: new Date(created_at.getTime() + 3_600_000), description: null },
  }
  const withCode = ({ text }: DocumentedEfiAnswer, code: string) =>
    text.replace(/"pixCopiaECola": "[^"]+"/, `"pixCopiaECola": "${code}"`)
  const br_code = makeBrCode({
    url: 'qrcodespix.sejaefi.com.br/v2/41e0badf811a4ce6ad8a80b306821fce',
    ...{ name: 'EFISA', city: 'SAOPAULO' },
  })

  test('is registered, if its code can be paid', async () => {
    expect(readCharge(JSON.parse(chargeAnswer.text))).toBeDefined()
    // The code of the page is masked, and nobody could pay it.
    answerWith('charge', chargeAnswer)
    expect(await rail.charges.register(order)).toEqual({ kind: 'unknown' })
    answerWith('charge', { http: 201, text: withCode(chargeAnswer, br_code) })
    expect(await rail.charges.register(order)).toEqual({ kind: 'registered', br_code })
  })

  test('that Efí knows already is asked about', async () => {
    answerWith('charge', chargeDuplicate)
    answerWith('asked_charge', { http: 200, text: withCode(askedCharge, br_code) })
    expect(await rail.charges.register(order)).toEqual({ kind: 'registered', br_code })
  })
})

test.each(balanceAnswers)('the balance is read ($text)', async (said) => {
  answerWith('balance', said)
  expect(await rail.account.balance()).toEqual({ available: 10_000n, blocked: 0n })
})

test('the address of the webhook is read', async () => {
  answerWith('webhook', webhookAnswer)
  expect(await rail.noticeAddress?.()).toBe('https://gn-pix-webhook.gerencianet.com.br/webhook/')
})

test.each(notices)('a notice of $what names it', ({ text, names }) => {
  expect(rail.readNotice(JSON.parse(text))).toEqual(names)
})

test('the code of a refusal is read', () => {
  const refused = JSON.parse(notices.find(({ what }) => what.endsWith('refused'))!.text).pix[0]
  expect(failureCodeOf(refused)).toBe('AC03')
})
