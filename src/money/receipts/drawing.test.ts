import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readPdf } from '../../../test/support/pdf.ts'
import type { Transfer } from '../onchain/store.ts'
import type { Payout } from '../pix/store.ts'
import { drawableText } from './drawable-text.ts'
import { drawReceipt } from './drawing.ts'
import { receiptAmount, receiptTime } from './format.ts'
import { maskPixKey } from './pix-key-mask.ts'
import { payoutPage, RECEIPT_EDITION, transferPage } from './receipts.ts'

const order = {
  partner_id: 'par_01kc3v4x9zq8rj5m2t7w6y0ahb',
  customer_id: 'cus_01kc3v4x9zq8rj5m2t7w6y0ahb',
  api_key_id: 'key_01kc3v4x9zq8rj5m2t7w6y0ahb',
  attempts: 1,
  next_attempt_at: new Date('2026-11-15T03:28:13.769Z'),
  sequence: 3,
  request_id: null,
  failure_code: null,
  rail_code: null,
  metadata: {},
  created_at: new Date('2026-11-15T03:28:13.769Z'),
  completed_at: new Date('2026-11-15T03:28:14.785Z'),
}

const payout: Payout = {
  ...order,
  id: 'po_01m7ekz4yd24eaptz1at1b3dgk',
  idempotency_key: 'invoice-1042',
  amount: 105_000n,
  fee: 150n,
  status: 'completed',
  counterparty: { type: 'pix_key', pix_key: '52998224725', name: 'Ana Souza', document: '52998224725' },
  description: 'Nota 1042',
  send_id: 'TRILHO01m7ekz4yd24eaptz1at1b3dgk',
  end_to_end_id: 'E1823612020261115032816a55629717',
  accepted_at: null,
  provider: null,
  absent_at: null,
  amount_returned: 0n,
  refusal: null,
}

const transfer: Transfer = {
  ...order,
  id: 'tr_01m7ekz7hr1r96zsyb2wnafyt9',
  idempotency_key: 'withdrawal-77',
  asset: 'USDT',
  network: 'polygon',
  amount_net: 25_000_000n,
  fee: 1_000_000n,
  status: 'confirmed',
  destination_address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  tx_hash: `0x${'9b1e2c3d'.repeat(8)}`,
  signed_transaction: null,
  wallet_id: null,
  seal: null,
  cancel_requested_at: null,
  nonce: null,
  charged: null,
  charged_at: null,
}

const parties = {
  payer: { name: 'Bia Lima', document: '11222333000181' },
  partner: 'Lumen Pagamentos',
  is_sandbox: false,
}

const printed = async (page: Parameters<typeof drawReceipt>[0]) => readPdf(await drawReceipt(page))

describe('a receipt of a payout', () => {
  test('says in Portuguese who paid whom, how much, when and under which ids', async () => {
    const { text, pages, info } = await printed(payoutPage(payout, parties, 'pt'))
    for (const said of [
      'Comprovante de pagamento Pix R$ 1.050,00',
      'Concluído 15/11/2026 às 00:28:14 (horário de Brasília, UTC−03:00)',
      'Quem recebeu Nome Ana Souza CPF ***.982.247-** Instituição Não informada pelo diretório do Pix Chave Pix (CPF) ***.982.247-**',
      'Quem pagou Nome Bia Lima CNPJ **.222.333/0001-** Instituição ISPB 18236120',
      'Valor R$ 1.050,00 Tarifa R$ 1,50 Total debitado R$ 1.051,50 Descrição Nota 1042',
      'Solicitado em 15/11/2026 às 00:28:13',
      'ID da transação (end-to-end) E1823612020261115032816a55629717',
      'po_01m7ekz4yd24eaptz1at1b3dgk',
      'Chave de idempotência invoice-1042',
      'Conta em Lumen Pagamentos',
    ])
      expect(text).toContain(said)
    expect(text).not.toContain('52998224725')
    expect(text).not.toMatch(/sandbox|sem valor/i)
    expect(pages).toHaveLength(1)
    expect(info).toMatchObject({ Title: 'Comprovante de pagamento Pix', Language: 'pt-BR' })
  })

  test('says the same in English', async () => {
    const { text } = await printed(payoutPage(payout, parties, 'en'))
    expect(text).toContain('Pix payment receipt R$ 1,050.00')
    expect(text).toContain('Completed 15 Nov 2026, 00:28:14 (São Paulo time, UTC−03:00)')
    expect(text).toContain('Recipient Name Ana Souza')
  })

  test('to a bank account names the institution, the branch and the account', async () => {
    const counterparty = {
      type: 'bank_account',
      ispb: '60701190',
      branch: '0001',
      account_number: '1234567',
      account_type: 'savings',
      name: 'Ana Souza',
      document: '52998224725',
    } as const
    const { text } = await printed(payoutPage({ ...payout, counterparty }, parties, 'pt'))
    expect(text).toContain('Instituição ISPB 60701190 Agência 0001 Conta 1234567 (poupança)')
  })
})

describe('a receipt of a transfer', () => {
  test('says asset, network, amounts, address and hash, and links to the explorer of the network', async () => {
    const { text, links } = await printed(transferPage(transfer, parties, 'en'))
    for (const said of [
      'On-chain transfer receipt 25.000000 USDT Confirmed',
      'Asset USDT Network Polygon Destination address 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      'Recipient receives (net) 25.000000 USDT Network fee 1.000000 USDT Total debited (gross) 26.000000 USDT',
      `Transaction hash ${transfer.tx_hash}`,
    ])
      expect(text).toContain(said)
    expect(new Set(links)).toEqual(new Set([`https://polygonscan.com/tx/${transfer.tx_hash}`]))
  })

  test('has a link for every network', async () => {
    for (const network of ['polygon', 'arbitrum', 'optimism', 'tron', 'ethereum', 'bitcoin'] as const) {
      const { links } = await printed(transferPage({ ...transfer, network }, parties, 'pt'))
      expect(links[0]).toMatch(/^https:\/\/[a-z.]+\/(#\/)?(tx|transaction)\/0x9b1e2c3d/)
    }
  })

  test('that an operator confirmed without a hash is printed without one', async () => {
    const { text, links } = await printed(transferPage({ ...transfer, tx_hash: null }, parties, 'pt'))
    expect([links, text.includes('Hash')]).toEqual([[], false])
  })
})

test.each([
  ['pt', 'COMPROVANTE DE SANDBOX, SEM VALOR'],
  ['en', 'SANDBOX RECEIPT WITHOUT VALUE'],
] as const)(
  'a sandbox receipt in %s says that it has no value, and links nowhere',
  async (language, banner) => {
    const parties_there = { ...parties, is_sandbox: true }
    for (const page of [
      payoutPage(payout, parties_there, language),
      transferPage(transfer, parties_there, language),
    ]) {
      const { text, links } = await printed(page)
      expect(text).toContain(banner)
      expect(text).toContain(page.sandbox!.watermark)
      expect(text).not.toMatch(/Pago por Pix|Paid over Pix|Enviada pela rede|Sent over/)
      expect(links).toEqual([])
    }
  },
)

const LONG = 'Maria Aparecida Conceição da Silva Albuquerque de Orléans e Bragança '

describe('no text leaves its place', () => {
  const bank = {
    type: 'bank_account',
    ispb: '60701190',
    branch: '9999',
    account_number: '9'.repeat(20),
    account_type: 'payment',
    document: '11222333000181',
  } as const
  const most = { amount: 999_999_999_999_999_999n, fee: 999_999_999_999_999_999n }
  const wide: Payout = {
    ...payout,
    ...most,
    counterparty: { ...bank, name: 'W'.repeat(120) },
    description: 'W'.repeat(140),
    idempotency_key: 'W'.repeat(255),
  }
  const cases = {
    'a long name': [{ ...payout, counterparty: { ...bank, name: LONG.repeat(2).slice(0, 120) } }, LONG],
    'the largest amounts, the widest letters, the longest key': [wide, 'W'.repeat(120)],
    'a name far beyond any limit': [{ ...payout, counterparty: { ...bank, name: LONG.repeat(100) } }, LONG],
  } as const

  test.each(Object.entries(cases))('%s', async (_, [order, name]) => {
    for (const is_sandbox of [false, true]) {
      const there = { ...parties, payer: { ...parties.payer, name }, partner: LONG, is_sandbox }
      expectInside(await printed(payoutPage(order, there, 'pt')))
    }
  })

  test('an address of 62 characters and a hash of 66 stand on one line each', async () => {
    const destination_address = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3'
    const pdf = await printed(
      transferPage({ ...transfer, ...most, amount_net: most.amount, destination_address }, parties, 'pt'),
    )
    expectInside(pdf)
    const lines = pdf.pages[0]!.texts.map(({ text }) => text)
    expect(lines).toContain(destination_address)
    expect(lines).toContain(transfer.tx_hash)
  })

  /** Within the margins, above the foot, and no two texts over each other. */
  function expectInside({ pages }: Awaited<ReturnType<typeof readPdf>>): void {
    for (const { width, height, texts } of pages) {
      const straight = texts.filter(({ text }) => !/SEM VALOR$/.test(text) || text.length > 9)
      for (const { text, x, y, width: long } of straight) {
        expect(x, text).toBeGreaterThanOrEqual(55)
        expect(x + long, text).toBeLessThanOrEqual(width - 55)
        expect(y, text).toBeGreaterThan(30)
        expect(y, text).toBeLessThan(height - 30)
      }
      for (const [i, one] of straight.entries())
        for (const other of straight.slice(i + 1)) {
          const is_beside = one.x + one.width <= other.x + 0.5 || other.x + other.width <= one.x + 0.5
          expect(is_beside || Math.abs(one.y - other.y) > 7, `${one.text} / ${other.text}`).toBe(true)
        }
    }
  }
})

describe('a dangerous text', () => {
  /** A font without emoji. */
  const hasGlyph = (code_point: number) => code_point < 0x1f000
  test.each([
    ['turned around by controls', 'Ana \u202eazuoS\u202c \u2066x\u2069', 'Ana azuoS x'],
    ['with marks of direction and nothing to see', 'A\u200fn\u200ba\u2060 S\u00adouza\ufeff', 'Ana Souza'],
    ['over several lines', 'Ana\r\nSouza\tLima\u2028x\u0000', 'Ana Souza Lima x'],
    ['of an emoji made of several', 'Ana 👨‍👩‍👧🏽 Souza', 'Ana \ufffd Souza'],
    ['in letters that look Latin', 'Аna', '\ufffdna'],
    ['from right to left', 'אבג', '\ufffd'],
    ['under a heap of marks', `Z\u0301\u0302\u0303\u0304a\u0335lgo`, 'Źalgo'],
    ['decomposed', 'Joa\u0303o Conceic\u0327a\u0303o', 'João Conceição'],
    ['broken', 'a\ud800b', 'a\ufffdb'],
    ['of letters with all kinds of accents', 'Łukasz Çağlar Ærø Nguyễn', 'Łukasz Çağlar Ærø Nguyễn'],
  ])('%s', (_, text, drawn) => expect(drawableText(text, hasGlyph)).toBe(drawn))

  test('a letter that no font has is substituted, and the receipt says so', async () => {
    const name = 'Ana \u202e王小明\u202c Ⱥ'
    const counterparty = { ...payout.counterparty, name } as Payout['counterparty']
    const { text } = await printed(payoutPage({ ...payout, counterparty }, parties, 'pt'))
    expect(text).toContain('Nome Ana \ufffd \ufffd CPF')
    expect(text).toContain('\ufffd representa caracteres que este documento não exibe.')
  })
})

test('amounts have all their decimals, and the separators of the language', () => {
  expect(receiptAmount('BRL', 5n, 'pt')).toBe('R$ 0,05')
  expect(receiptAmount('BRL', 123456789n, 'pt')).toBe('R$ 1.234.567,89')
  expect(receiptAmount('BRL', 123456789n, 'en')).toBe('R$ 1,234,567.89')
  expect(receiptAmount('USDT', 2401000000n, 'pt')).toBe('2.401,000000 USDT')
  expect(receiptAmount('BTC', 1n, 'en')).toBe('0.00000001 BTC')
})

test('times are those of São Paulo at that time', () => {
  expect(receiptTime(new Date('2026-01-01T02:59:59.999Z'), 'pt')).toBe(
    '31/12/2025 às 23:59:59 (horário de Brasília, UTC−03:00)',
  )
  // Brazil had daylight saving time until 2019.
  expect(receiptTime(new Date('2018-12-01T12:00:00Z'), 'en')).toBe(
    '1 Dec 2018, 10:00:00 (São Paulo time, UTC−02:00)',
  )
})

test.each([
  ['52998224725', 'cpf', '***.982.247-**'],
  ['11222333000181', 'cnpj', '**.222.333/0001-**'],
  ['ana.souza@example.com.br', 'email', 'an***@example.com.br'],
  ['a@example.com', 'email', '***@example.com'],
  ['+5511987654321', 'phone', '+55 11 *****-4321'],
  ['7d9f0335-8dcc-4054-9bf9-0dbd61d36906', 'random', '7d9f0335-8dcc-4054-9bf9-0dbd61d36906'],
])('of the Pix key %s a receipt shows what its holder recognises', (key, type, shown) =>
  expect(maskPixKey(key)).toEqual({ type, shown }),
)

describe('the bytes', () => {
  test('are the same each time', async () => {
    const page = payoutPage(payout, { ...parties, is_sandbox: true }, 'pt')
    expect(Buffer.from(await drawReceipt(page))).toEqual(Buffer.from(await drawReceipt(page)))
  })

  test('have all fonts embedded, cut to the letters in use', async () => {
    const file = Buffer.from(await drawReceipt(payoutPage(payout, parties, 'pt'))).toString('latin1')
    const fonts = [...file.matchAll(/\/BaseFont \/(\S+)/g)].map(([, name]) => name)
    expect(new Set(fonts.map((name) => name!.replace(/^[A-Z]{6}\+/, '')))).toEqual(
      new Set(['IBMPlexSans', 'IBMPlexSans-SmBld', 'IBMPlexMono']),
    )
    expect(fonts.every((name) => /^[A-Z]{6}\+/.test(name!))).toBe(true)
    expect(file.match(/\/FontFile2/g)).toHaveLength(3)
    expect(file.length).toBeLessThan(100_000)
  })

  test('belong to this edition: when they change, raise RECEIPT_EDITION, because ETags are made from it', async () => {
    const pages = [
      payoutPage(payout, parties, 'pt'),
      transferPage(transfer, { ...parties, is_sandbox: true }, 'en'),
    ]
    const digest = createHash('sha256')
    for (const page of pages) digest.update(await drawReceipt(page))
    expect([RECEIPT_EDITION, digest.digest('hex')]).toEqual([
      1,
      '17ab90883301d83f5438162fd52a5110f8dc042dcbde17dc3da3f5253972d2e7',
    ])
  })
})
