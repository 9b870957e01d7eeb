import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { hexToBytes } from '@noble/hashes/utils.js'
import { HDKey } from '@scure/bip32'
import { SigHash, Transaction } from '@scure/btc-signer/transaction.js'
import { describe, expect, test } from 'vitest'
import { openTestWallet } from '../../../test/chains/bitcoin-wallet.ts'
import { spellingsOf } from '../../../test/chains/secrets.ts'
import { readSigned } from '../chain/bitcoin/bytes.ts'
import type { Coin } from '../chain/bitcoin/rail.ts'
import {
  type BitcoinDraft,
  encodePsbt,
  isSignedDraft,
  scriptOf,
  vsizeOf,
} from '../chain/bitcoin/transaction.ts'
import type { Purpose } from '../chain/rail.ts'
import { localBitcoinSigner } from './bitcoin.ts'
import { openDepositKeys } from './deposit-keys.ts'
import { sealOf } from './seal.ts'
import { type Intent, SignatureRefused, type SignerRule, type SignRequest } from './signer.ts'

const secret = createHash('sha256').update('a bitcoin wallet of tests').digest()
const key = secret.toString('hex')
const wallet = openTestWallet(secret)
const seal_key = createHash('sha256').update('a seal key').digest()
const destination_address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
const destination = scriptOf(destination_address)!
const other = scriptOf('1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2')!
const HOUR_MS = 3_600_000
const AMOUNT = 150_000n
const FEE = 2000n

const coin = (name: string, amount = 100_000n): Coin => ({
  ...{ txid: createHash('sha256').update(name).digest('hex'), vout: 1, amount, script: wallet.script },
})
const coins = [coin('first'), coin('second')]
const caps = { fee_most: 20_000n, rate_most: 50_000n }
const per_hour = { count: 100, amount: 10n ** 9n, cost: 10n ** 6n }

const openSigner = (changes: Partial<Parameters<typeof localBitcoinSigner>[0]> = {}) =>
  localBitcoinSigner({ key, sealKey: async () => seal_key, caps, per_hour, ...changes })

function intentOf(changes: Partial<Intent> = {}): Intent {
  const sealable = {
    ...({ transfer_id: 'tr_1', network: 'bitcoin', destination_address, amount: AMOUNT } as const),
    ...changes,
  }
  return { seal: sealOf(seal_key, sealable), ...sealable }
}

const back = (amount: bigint) => ({ script: wallet.script, amount })
const payment = (changes: Partial<BitcoinDraft> = {}): BitcoinDraft => ({
  coins,
  outputs: [{ script: destination, amount: AMOUNT }, back(200_000n - AMOUNT - FEE)],
  ...changes,
})
const cancel = (changes: Partial<BitcoinDraft> = {}): BitcoinDraft => ({
  coins,
  outputs: [back(200_000n - FEE)],
  ...changes,
})

type RequestChanges = Partial<Omit<SignRequest, 'unsigned'>> & { readonly unsigned?: BitcoinDraft | string }

function requestOf({ unsigned = payment(), ...changes }: RequestChanges = {}): SignRequest {
  const reserved = typeof unsigned === 'string' ? coins : unsigned.coins
  return {
    intent: intentOf(),
    purpose: 'pay',
    unsigned: typeof unsigned === 'string' ? unsigned : encodePsbt(unsigned),
    reservation: { wallet: wallet.address, coins: reserved },
    ...changes,
  }
}

async function ruleOf(request: SignRequest, signer = openSigner()): Promise<SignerRule | 'signed'> {
  try {
    await signer.sign(request)
    return 'signed'
  } catch (error) {
    if (!(error instanceof SignatureRefused)) throw error
    expect(error.message).toContain('The signer refuses transfer tr_')
    return error.rule
  }
}

describe('what is signed', () => {
  test('is the draft, valid, and of the computed size', async () => {
    for (const [purpose, draft] of [
      ['pay', payment()],
      ['cancel', cancel()],
      [
        'pay',
        payment({ outputs: [{ script: destination, amount: AMOUNT }], coins: [coin('one', AMOUNT + FEE)] }),
      ],
    ] as const) {
      const { signed } = await openSigner().sign(requestOf({ purpose, unsigned: draft }))
      expect(isSignedDraft(signed, draft)).toBe(true)
      const facts = readSigned(signed)
      expect(facts.outputs).toEqual(draft.outputs)
      expect(facts.inputs).toEqual(draft.coins.map(({ txid, vout }) => ({ txid, vout })))
      const scripts = draft.outputs.map(({ script }) => script)
      expect(vsizeOf(draft.coins.length, scripts) - facts.vsize).toBeOneOf([0, 1])
    }
  })

  test('is the same every time', async () => {
    const signer = openSigner()
    expect(await signer.sign(requestOf())).toEqual(await signer.sign(requestOf()))
    expect(await openSigner({ key: `0x${key.toUpperCase()}` }).sign(requestOf())).toEqual(
      await signer.sign(requestOf()),
    )
  })

  test('comes from the wallet of the key', async () => {
    expect(await openSigner().addresses()).toEqual({ bitcoin: wallet.address })
    expect(wallet.address).toMatch(/^bc1q/)
  })

  test('pays every kind of address', async () => {
    for (const address of [
      '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
      '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
      'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
      'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
      wallet.address,
    ]) {
      const outputs = [{ script: scriptOf(address)!, amount: AMOUNT }, back(48_000n)]
      const intent = intentOf({ destination_address: address })
      expect(await ruleOf(requestOf({ intent, unsigned: payment({ outputs }) })), address).toBe('signed')
    }
  })
})

describe('a payment is refused', () => {
  const paid = { script: destination, amount: AMOUNT }
  const foreign = { ...coin('foreign'), script: other }
  const cases: readonly [name: string, rule: SignerRule, changes: RequestChanges][] = [
    ['of another network', 'network', { intent: intentOf({ network: 'polygon' }) }],
    ['without a seal', 'seal', { intent: intentOf({ seal: '' }) }],
    ['with the seal of another amount', 'seal', { intent: { ...intentOf(), amount: AMOUNT + 1n } }],
    [
      'with the seal of another destination',
      'seal',
      { intent: { ...intentOf(), destination_address: wallet.address } },
    ],
    ['with the seal of another transfer', 'seal', { intent: { ...intentOf(), transfer_id: 'tr_2' } }],
    ['from another wallet', 'wallet', { reservation: { wallet: destination_address, coins } }],
    ['with a coin of another wallet', 'wallet', { unsigned: payment({ coins: [coins[0]!, foreign] }) }],
    ['with the reservation of a nonce', 'coins', { reservation: { wallet: wallet.address, nonce: 1n } }],
    [
      'with one coin less than reserved',
      'coins',
      { reservation: { wallet: wallet.address, coins: [...coins, coin('third')] } },
    ],
    [
      'with a coin that is not reserved',
      'coins',
      { reservation: { wallet: wallet.address, coins: [coins[0]!, coin('third')] } },
    ],
    [
      'to another destination',
      'to',
      { unsigned: payment({ outputs: [{ ...paid, script: other }, back(48_000n)] }) },
    ],
    [
      'of another amount',
      'value',
      { unsigned: payment({ outputs: [{ ...paid, amount: AMOUNT - 1n }, back(48_000n)] }) },
    ],
    [
      'with a second payment',
      'to',
      { unsigned: payment({ outputs: [paid, paid], coins: [...coins, coin('third', 110_000n)] }) },
    ],
    [
      'whose change goes elsewhere',
      'to',
      { unsigned: payment({ outputs: [paid, { script: other, amount: 48_000n }] }) },
    ],
    ['with a third output', 'to', { unsigned: payment({ outputs: [paid, back(24_000n), back(24_000n)] }) }],
    ['with the change first', 'to', { unsigned: payment({ outputs: [back(48_000n), paid] }) }],
    ['that is a cancel', 'to', { unsigned: cancel() }],
    ['with an unknown purpose', 'purpose', { purpose: 'drain' as Purpose }],
    ['with a fee above the cap', 'fee_cap', { unsigned: payment({ outputs: [paid, back(29_999n)] }) }],
    ['with a rate above the cap', 'fee_cap', { unsigned: payment({ outputs: [paid, back(39_500n)] }) }],
    ['without a fee', 'value', { unsigned: payment({ outputs: [paid, back(50_000n)] }) }],
    ['that is worth more than its coins', 'value', { unsigned: payment({ outputs: [paid, back(60_000n)] }) }],
    ['to a text that is no address', 'to', { intent: intentOf({ destination_address: 'bc1nonsense' }) }],
    [
      'of nothing',
      'value',
      {
        intent: intentOf({ amount: 0n }),
        unsigned: payment({ outputs: [{ ...paid, amount: 0n }, back(198_000n)] }),
      },
    ],
    ['that is no hex', 'encoding', { unsigned: 'nonsense' }],
    ['that is empty', 'encoding', { unsigned: '' }],
    ['with bytes behind its end', 'encoding', { unsigned: `${encodePsbt(payment())}00` }],
    ['in upper case', 'encoding', { unsigned: encodePsbt(payment()).toUpperCase() }],
  ]
  test.each(cases)('%s', async (_, rule, changes) => {
    expect(await ruleOf(requestOf(changes))).toBe(rule)
  })

  type Input = Parameters<Transaction['addInput']>[0]
  function psbtWith(input: Partial<Input>, options: ConstructorParameters<typeof Transaction>[0] = {}) {
    const transaction = new Transaction({ lowR: true, ...options })
    for (const { txid, vout, amount, script } of coins)
      transaction.addInput({
        ...{ txid, index: vout, sequence: 0xfffffffd, sighashType: SigHash.ALL },
        witnessUtxo: { amount, script: hexToBytes(script) },
        ...input,
      })
    for (const { script, amount } of payment().outputs)
      transaction.addOutput({ script: hexToBytes(script), amount })
    return transaction
  }
  const psbtHex = (transaction: Transaction, version?: number) =>
    Buffer.from(transaction.toPSBT(version)).toString('hex')

  test('with another sequence, signature hash, lock time, version or form of PSBT', async () => {
    const signed = psbtWith({})
    signed.sign(secret)
    const raw = psbtWith({})
    raw.sign(secret)
    raw.finalize()
    expect(await ruleOf(requestOf({ unsigned: psbtHex(psbtWith({})) })), 'the form that is signed').toBe(
      'signed',
    )
    for (const [name, unsigned] of Object.entries({
      sequence: psbtHex(psbtWith({ sequence: 0xffffffff })),
      none: psbtHex(psbtWith({ sighashType: SigHash.NONE })),
      single: psbtHex(psbtWith({ sighashType: SigHash.SINGLE_ANYONECANPAY })),
      lock_time: psbtHex(psbtWith({}, { lockTime: 500 })),
      version: psbtHex(psbtWith({}, { version: 1 })),
      psbt_version: psbtHex(psbtWith({}), 2),
      extra: psbtHex(
        psbtWith({
          bip32Derivation: [[new Uint8Array(33).fill(2), { fingerprint: 1, path: [1] }]],
        } as Partial<Input>),
      ),
      signed: psbtHex(signed),
      raw: raw.hex,
      unsigned_raw: Buffer.from(psbtWith({}).unsignedTx).toString('hex'),
    }))
      expect(await ruleOf(requestOf({ unsigned })), name).toBe('encoding')
  })

  test('whose coin had another amount in an earlier request', async () => {
    const signer = openSigner()
    const lying = [coins[0]!, { ...coins[1]!, amount: 100_500n }]
    expect(await ruleOf(requestOf(), signer)).toBe('signed')
    expect(await ruleOf(requestOf({ unsigned: payment({ coins: lying }) }), signer)).toBe('coins')
    expect(await ruleOf(requestOf(), signer)).toBe('signed')
  })

  test('that spends a coin twice', async () => {
    const twice = [coins[0]!, coins[0]!]
    let unsigned: string
    try {
      unsigned = encodePsbt(payment({ coins: twice }))
    } catch {
      return // The library does not make such a PSBT.
    }
    expect(['coins', 'encoding']).toContain(
      await ruleOf(requestOf({ unsigned, reservation: { wallet: wallet.address, coins: twice } })),
    )
  })
})

describe('a cancel is refused', () => {
  const cases: readonly [name: string, rule: SignerRule, unsigned: BitcoinDraft][] = [
    ['that pays the destination', 'to', payment()],
    ['that pays another script', 'to', cancel({ outputs: [{ script: other, amount: 198_000n }] })],
    ['with two outputs', 'to', cancel({ outputs: [back(100_000n), back(98_000n)] })],
    ['that gives all to the miner', 'to', cancel({ outputs: [] })],
    ['with a fee above the cap', 'fee_cap', cancel({ outputs: [back(179_999n)] })],
  ]
  test.each(cases)('%s', async (_, rule, unsigned) => {
    expect(await ruleOf(requestOf({ purpose: 'cancel', unsigned }))).toBe(rule)
  })

  test('without the seal of its transfer', async () => {
    const intent = { ...intentOf(), seal: 'f'.repeat(64) }
    expect(await ruleOf(requestOf({ purpose: 'cancel', unsigned: cancel(), intent }))).toBe('seal')
  })
})

describe('limits of an hour', () => {
  function limited(changes: Partial<typeof per_hour>) {
    const clock = { time: 0, now: () => clock.time }
    return { clock, signer: openSigner({ clock, per_hour: { ...per_hour, ...changes } }) }
  }
  const withCoins = (...names: string[]) =>
    requestOf({
      unsigned: payment({
        coins: names.map((name) => coin(name, 200_000n)),
        outputs: [
          { script: destination, amount: AMOUNT },
          back(200_000n * BigInt(names.length) - AMOUNT - FEE),
        ],
      }),
    })

  test('of signatures, replacements included', async () => {
    const { clock, signer } = limited({ count: 2 })
    expect(await ruleOf(withCoins('a'), signer)).toBe('signed')
    expect(await ruleOf(withCoins('a'), signer)).toBe('signed')
    clock.time = HOUR_MS - 1
    expect(await ruleOf(withCoins('b'), signer)).toBe('count_per_hour')
    clock.time = HOUR_MS
    expect(await ruleOf(withCoins('b'), signer)).toBe('signed')
  })

  test('of money, where transactions of the same coins count once, and those of other coins again', async () => {
    const { signer } = limited({ amount: 2n * AMOUNT })
    for (const names of [['a', 'b'], ['a', 'b'], ['c']])
      expect(await ruleOf(withCoins(...names), signer)).toBe('signed')
    expect(await ruleOf(withCoins('d'), signer), 'the same sealed transfer with other coins').toBe(
      'amount_per_hour',
    )
    const draft = cancel({ coins: [coin('d', 200_000n)] })
    expect(await ruleOf(requestOf({ purpose: 'cancel', unsigned: draft }), signer)).toBe('signed')
  })

  test('of fees', async () => {
    const { signer } = limited({ cost: 2n * FEE })
    for (const name of ['a', 'b', 'a']) expect(await ruleOf(withCoins(name), signer)).toBe('signed')
    expect(await ruleOf(withCoins('c'), signer)).toBe('costs_per_hour')
  })

  test('count what was signed before the start', async () => {
    const { txid } = coin('a')
    const before = { network: 'bitcoin', amount: AMOUNT, cost: FEE, at: new Date() } as const
    const signer = openSigner({
      per_hour: { ...per_hour, amount: AMOUNT },
      signedBefore: async () => [{ ...before, spends: `${txid}:1` }],
    })
    expect(await ruleOf(withCoins('b'), signer)).toBe('amount_per_hour')
    expect(await ruleOf(withCoins('a'), signer), 'a replacement').toBe('signed')
  })
})

describe('the answer of a signer is not the draft', () => {
  const draft = payment()
  const signedWith = (changes: Partial<BitcoinDraft>, purpose: Purpose = 'pay') =>
    openSigner().sign(requestOf({ purpose, unsigned: { ...draft, ...changes } }))

  test('if it is another transaction, of another key, or has a broken signature', async () => {
    const { signed } = await signedWith({})
    expect(isSignedDraft(signed, draft)).toBe(true)
    const { signed: cheaper } = await signedWith({ outputs: [draft.outputs[0]!, back(48_001n)] })
    const stranger = openTestWallet(createHash('sha256').update('a stranger').digest())
    const foreign = stranger.spend(
      draft.coins.map((one) => ({ ...one, script: stranger.script })),
      draft.outputs,
    )
    for (const answer of ['', '00', 'zz', `${signed}00`, signed.toUpperCase(), cheaper, foreign])
      expect(isSignedDraft(answer, draft), answer).toBe(false)
    const lying = { ...draft, coins: [draft.coins[0]!, { ...draft.coins[1]!, amount: 100_001n }] }
    expect(isSignedDraft(signed, lying), 'a signature commits to the amount').toBe(false)
    const bytes = Buffer.from(signed, 'hex')
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      expect(isSignedDraft(changed.toString('hex'), draft), `byte ${at}`).toBe(false)
    }
  })
})

describe('the key of the wallet', () => {
  test('is in nothing that leaves the signer', async () => {
    const signer = openSigner()
    const errors: unknown[] = []
    for (const request of [
      requestOf({ unsigned: 'nonsense' }),
      requestOf({ intent: intentOf({ seal: key }) }),
      undefined,
    ])
      errors.push(await signer.sign(request as SignRequest).catch((error) => error))
    const shown = [signer, signer.sign, await signer.addresses(), await signer.sign(requestOf()), ...errors]
    const told = [
      inspect(shown, { depth: 20, showHidden: true, getters: true, maxArrayLength: null }),
      JSON.stringify(shown),
      ...errors.map((error) => String((error as Error).stack)),
      ...shown.map(String),
    ].join('\n')
    for (const form of [...spellingsOf(secret), [...secret].join(', ')]) expect(told).not.toContain(form)
  })

  test.each([
    ['shorter', key.slice(2)],
    ['no hex', `${key.slice(0, 62)}zz`],
    ['zero', '0'.repeat(64)],
    ['above the order of the curve', 'f'.repeat(64)],
  ])('is refused if it is %s', (_, wrong) => {
    expect(() => openSigner({ key: wrong })).toThrow(/^The key of the wallet is not valid/)
  })
})

describe('coins at deposit addresses', () => {
  const account = HDKey.fromMasterSeed(createHash('sha256').update('deposits').digest())
  const deposit_keys = openDepositKeys(account.privateExtendedKey!, account.publicExtendedKey)
  const at = (index: number) => openTestWallet(deposit_keys.secretAt(index)).script
  const atAddress = (name: string, index: number): Coin => ({
    ...coin(name),
    script: at(index),
    address_index: index,
  })
  const mixed = [coins[0]!, atAddress('third', 3), atAddress('seventh', 7)]
  const draft = payment({
    coins: mixed,
    outputs: [{ script: destination, amount: AMOUNT }, back(300_000n - AMOUNT - FEE)],
  })

  test('are signed by their own keys beside those of the wallet', async () => {
    const { signed } = await openSigner({ deposit_keys }).sign(requestOf({ unsigned: draft }))
    expect(isSignedDraft(signed, draft)).toBe(true)
    const swapped = { ...draft, coins: [mixed[0]!, { ...mixed[1]!, script: at(7) }, mixed[2]!] }
    expect(isSignedDraft(signed, swapped), 'each input has the key of its coin').toBe(false)
  })

  test('are refused with another index, without one, without the keys, and as change', async () => {
    const ruleWith = (reserved: readonly Coin[], signer = openSigner({ deposit_keys })) =>
      ruleOf(requestOf({ unsigned: draft, reservation: { wallet: wallet.address, coins: reserved } }), signer)
    const indexed = (address_index: number) => [mixed[0]!, { ...mixed[1]!, address_index }, mixed[2]!]
    const { address_index: _, ...without } = mixed[1]!
    expect(await ruleWith(mixed)).toBe('signed')
    for (const index of [4, 7, -1, 0.5, 2 ** 31]) expect(await ruleWith(indexed(index))).toBe('wallet')
    expect(await ruleWith([mixed[0]!, without, mixed[2]!])).toBe('wallet')
    expect(await ruleWith([{ ...mixed[0]!, address_index: 0 }, mixed[1]!, mixed[2]!])).toBe('wallet')
    expect(await ruleWith(mixed, openSigner())).toBe('wallet')
    const astray = { ...draft, outputs: [draft.outputs[0]!, { ...draft.outputs[1]!, script: at(3) }] }
    expect(await ruleOf(requestOf({ unsigned: astray }), openSigner({ deposit_keys }))).toBe('to')
  })
})
