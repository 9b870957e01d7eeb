import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { Transaction } from 'micro-eth-signer'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { networks } from '../../core/networks.ts'
import { transferData } from '../chain/evm/token.ts'
import { type EvmTransaction, encodeUnsigned, factsOfSigned } from '../chain/evm/transaction.ts'
import type { Purpose } from '../chain/rail.ts'
import { localSigner } from './local.ts'
import { sealOf } from './seal.ts'
import { type Intent, SignatureRefused, type SignerRule, type SignRequest } from './signer.ts'

const key = createHash('sha256').update('a wallet of tests').digest('hex')
const account = privateKeyToAccount(`0x${key}`)
const seal_key = createHash('sha256').update('a seal key').digest()
const gwei = 10n ** 9n
const destination_address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const HOUR_MS = 3_600_000

const per_hour = { count: 100, amount: 10n ** 12n, cost: 10n ** 18n }
const limits = { cost_most_wei: 10n ** 16n, per_hour }

function openSigner(changes: Partial<Parameters<typeof localSigner>[0]> = {}) {
  return localSigner({
    key,
    sealKey: async () => seal_key,
    networks: { polygon: limits, ethereum: limits },
    ...changes,
  })
}

function intentOf(changes: Partial<Intent> = {}): Intent {
  const sealable = {
    ...({ transfer_id: 'tr_1', network: 'polygon', destination_address, amount: 1_500_000n } as const),
    ...changes,
  }
  return { seal: sealOf(seal_key, sealable), ...sealable }
}

const payment = (changes: Partial<EvmTransaction> = {}): EvmTransaction => ({
  chain_id: 137n,
  nonce: 7n,
  to: networks.polygon.usdt_contracts[0],
  data: transferData(destination_address, 1_500_000n),
  gas_limit: 65_000n,
  max_fee: 100n * gwei,
  priority: 30n * gwei,
  ...changes,
})
const cancel = (changes: Partial<EvmTransaction> = {}): EvmTransaction =>
  payment({ to: account.address, data: '0x', gas_limit: 25_200n, ...changes })

type RequestChanges = Partial<Omit<SignRequest, 'unsigned'>> & { readonly unsigned?: EvmTransaction | string }

function requestOf({ unsigned = payment(), ...changes }: RequestChanges = {}): SignRequest {
  return {
    intent: intentOf(),
    purpose: 'pay',
    unsigned: typeof unsigned === 'string' ? unsigned : encodeUnsigned(unsigned),
    reservation: { wallet: account.address, nonce: 7n },
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

describe('room for a payment', () => {
  const ahead = (transfer_id: string, changes: { amount?: bigint; gas_wei?: bigint } = {}) =>
    ({ transfer_id, network: 'polygon', amount: 1_500_000n, cost: 10n ** 15n, ...changes }) as const
  function open(changes: Partial<typeof per_hour>) {
    let now = Date.UTC(2026, 0, 1)
    const own = { ...limits, per_hour: { ...per_hour, ...changes } }
    const signer = openSigner({ networks: { polygon: own }, clock: { now: () => now } })
    return { signer, pass: (ms: number) => (now += ms) }
  }

  test.each([
    ['signatures', { count: 1 }, 'count_per_hour'],
    ['amounts', { amount: 2_999_999n }, 'amount_per_hour'],
    ['costs', { cost: 2n * 10n ** 15n - 1n }, 'costs_per_hour'],
  ] as const)('is kept for the one that asked first, within the limit of %s', async (_, changes, rule) => {
    const { signer, pass } = open(changes)
    expect(await signer.keepRoom(ahead('tr_1'))).toBeUndefined()
    expect(await signer.keepRoom(ahead('tr_1')), 'asked again').toBeUndefined()
    expect(await signer.keepRoom(ahead('tr_2'))).toBe(rule)
    pass(30_000)
    expect(await signer.keepRoom(ahead('tr_2')), 'the first one was not signed').toBeUndefined()
  })

  test('is taken by the signature, and free again after an hour', async () => {
    const { signer, pass } = open({ amount: 2_000_000n })
    await signer.keepRoom(ahead('tr_1'))
    await signer.sign(requestOf())
    pass(30_000)
    expect(await signer.keepRoom(ahead('tr_2'))).toBe('amount_per_hour')
    expect(await signer.keepRoom(ahead('tr_3', { amount: 500_000n })), 'a smaller one').toBeUndefined()
    pass(HOUR_MS)
    expect(await signer.keepRoom(ahead('tr_2'))).toBeUndefined()
  })

  test('that is kept for a payment without a nonce does not stop one that has a nonce', async () => {
    const { signer } = open({ count: 1 })
    await signer.keepRoom(ahead('tr_2'))
    expect(await ruleOf(requestOf(), signer)).toBe('signed')
  })
})

describe('what is signed', () => {
  test('has the bytes that viem makes for the same transaction', async () => {
    const { signed } = await openSigner().sign(requestOf())
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [destination_address, 1_500_000n],
    })
    const theirs = await account.signTransaction({
      ...{ type: 'eip1559', chainId: 137, nonce: 7, value: 0n, gas: 65_000n, data },
      to: networks.polygon.usdt_contracts[0],
      maxFeePerGas: 100n * gwei,
      maxPriorityFeePerGas: 30n * gwei,
    })
    expect(signed).toBe(theirs)
    expect(factsOfSigned(signed)).toMatchObject({ sender: account.address.toLowerCase() })
  })

  test('a cancel too', async () => {
    const { signed } = await openSigner().sign(requestOf({ purpose: 'cancel', unsigned: cancel() }))
    const theirs = await account.signTransaction({
      ...{ type: 'eip1559', chainId: 137, nonce: 7, value: 0n, gas: 25_200n, to: account.address },
      maxFeePerGas: 100n * gwei,
      maxPriorityFeePerGas: 30n * gwei,
    })
    expect(signed).toBe(theirs)
  })

  test('is the same every time', async () => {
    const signer = openSigner()
    expect(await signer.sign(requestOf())).toEqual(await signer.sign(requestOf()))
  })

  test('comes from one wallet on all networks of the signer', async () => {
    const { address } = account
    expect(await openSigner().addresses()).toEqual({ polygon: address, ethereum: address })
    const other = openSigner({ networks: { arbitrum: limits }, key: `0x${key.toUpperCase()}` })
    expect(await other.addresses()).toEqual({ arbitrum: address })
  })

  test('goes to another contract of the token where one is configured', async () => {
    const contract = `0x${'ab'.repeat(20)}`
    const signer = openSigner({ networks: { polygon: { ...limits, contract } } })
    expect(await ruleOf(requestOf({ unsigned: payment({ to: contract }) }), signer)).toBe('signed')
    expect(await ruleOf(requestOf(), signer)).toBe('to')
  })
})

describe('a payment is refused', () => {
  const other = `0x${'cd'.repeat(20)}`
  const right = transferData(destination_address, 1_500_000n)
  const cases: readonly [name: string, rule: SignerRule, changes: RequestChanges][] = [
    ['of a network without limits', 'network', { intent: intentOf({ network: 'arbitrum' }) }],
    ['of a network that is no EVM network', 'network', { intent: intentOf({ network: 'tron' }) }],
    ['without a seal', 'seal', { intent: intentOf({ seal: '' }) }],
    ['with the seal of another amount', 'seal', { intent: { ...intentOf(), amount: 1_500_001n } }],
    [
      'with the seal of another destination',
      'seal',
      { intent: { ...intentOf(), destination_address: other } },
    ],
    ['with the seal of another transfer', 'seal', { intent: { ...intentOf(), transfer_id: 'tr_2' } }],
    ['with the seal of another network', 'seal', { intent: { ...intentOf(), network: 'ethereum' } }],
    ['with the chain id of another network', 'chain_id', { unsigned: payment({ chain_id: 1n }) }],
    ['from another wallet', 'wallet', { reservation: { wallet: other, nonce: 7n } }],
    ['with another nonce', 'nonce', { unsigned: payment({ nonce: 8n }) }],
    ['to another contract', 'to', { unsigned: payment({ to: other }) }],
    ['to another destination', 'data', { unsigned: payment({ data: transferData(other, 1_500_000n) }) }],
    [
      'of another amount',
      'data',
      { unsigned: payment({ data: transferData(destination_address, 1_500_001n) }) },
    ],
    ['by another function', 'data', { unsigned: payment({ data: right.replace('a9059cbb', '095ea7b3') }) }],
    ['with bytes behind its data', 'data', { unsigned: payment({ data: `${right}00` }) }],
    ['without data', 'data', { unsigned: payment({ data: '0x' }) }],
    ['with a dirty address word', 'data', { unsigned: payment({ data: right.replace('bb0', 'bb1') }) }],
    ['that may cost more than the cap', 'fee_cap', { unsigned: payment({ gas_limit: 100_001n }) }],
    ['that is a cancel', 'to', { unsigned: cancel() }],
    ['with an unknown purpose', 'purpose', { purpose: 'drain' as Purpose }],
    [
      'of nothing',
      'data',
      {
        intent: intentOf({ amount: 0n }),
        unsigned: payment({ data: transferData(destination_address, 0n) }),
      },
    ],
    ['that is no hex', 'encoding', { unsigned: 'nonsense' }],
    ['that is empty', 'encoding', { unsigned: '' }],
    ['with bytes behind its end', 'encoding', { unsigned: `${encodeUnsigned(payment())}00` }],
    ['in upper case', 'encoding', { unsigned: encodeUnsigned(payment()).toUpperCase() }],
  ]
  test.each(cases)('%s', async (_, rule, changes) => {
    expect(await ruleOf(requestOf(changes))).toBe(rule)
  })

  const fields = {
    ...{ chainId: 137n, nonce: 7n, to: networks.polygon.usdt_contracts[0], data: right, gasLimit: 65_000n },
    value: 0n,
  }
  const fees = { maxFeePerGas: 100n * gwei, maxPriorityFeePerGas: gwei }
  const prepared = (transaction: { toHex(options: { includeSignature: boolean }): string }) =>
    transaction.toHex({ includeSignature: false })

  test('that carries ether', async () => {
    const unsigned = prepared(Transaction.prepare({ ...fields, ...fees, value: 1n }))
    expect(await ruleOf(requestOf({ unsigned }))).toBe('value')
  })

  test('with an access list', async () => {
    const accessList = [{ address: fields.to, storageKeys: [] }]
    const unsigned = prepared(Transaction.prepare({ ...fields, ...fees, accessList }))
    expect(await ruleOf(requestOf({ unsigned }))).toBe('encoding')
  })

  test('of another type', async () => {
    const gasPrice = 100n * gwei
    for (const transaction of [
      Transaction.prepare({ type: 'legacy', ...fields, gasPrice }),
      Transaction.prepare({ type: 'eip2930', ...fields, gasPrice, accessList: [] }),
    ])
      expect(await ruleOf(requestOf({ unsigned: prepared(transaction) }))).toBe('encoding')
  })

  test('that is signed already', async () => {
    const signer = openSigner()
    const { signed } = await signer.sign(requestOf())
    expect(await ruleOf(requestOf({ unsigned: signed }), signer)).toBe('already_signed')
  })
})

describe('a cancel is refused', () => {
  const cases: readonly [name: string, rule: SignerRule, unsigned: EvmTransaction][] = [
    ['to another address', 'to', cancel({ to: destination_address })],
    ['to the token', 'to', payment()],
    ['with data', 'data', cancel({ data: '0x00' })],
    ['with another nonce', 'nonce', cancel({ nonce: 6n })],
    ['on another chain', 'chain_id', cancel({ chain_id: 10n })],
    ['that may cost more than the cap', 'fee_cap', cancel({ max_fee: 400n * 10n ** 9n })],
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
    const own = { ...limits, per_hour: { ...per_hour, ...changes } }
    return { clock, signer: openSigner({ clock, networks: { polygon: own, ethereum: own } }) }
  }
  const withNonce = (nonce: bigint) =>
    requestOf({ unsigned: payment({ nonce }), reservation: { wallet: account.address, nonce } })

  test('of signatures, replacements included', async () => {
    const { clock, signer } = limited({ count: 2 })
    expect(await ruleOf(withNonce(1n), signer)).toBe('signed')
    clock.time = 1000
    expect(await ruleOf(withNonce(1n), signer)).toBe('signed')
    expect(await ruleOf(withNonce(2n), signer)).toBe('count_per_hour')
    clock.time = HOUR_MS - 1
    expect(await ruleOf(withNonce(2n), signer)).toBe('count_per_hour')
    clock.time = HOUR_MS
    expect(await ruleOf(withNonce(2n), signer)).toBe('signed')
  })

  test('of money, where the transactions of one nonce count once', async () => {
    const { clock, signer } = limited({ amount: 3_000_000n })
    for (const nonce of [1n, 1n, 1n, 2n]) expect(await ruleOf(withNonce(nonce), signer)).toBe('signed')
    expect(await ruleOf(withNonce(3n), signer)).toBe('amount_per_hour')
    const canceling = {
      ...withNonce(3n),
      purpose: 'cancel',
      unsigned: encodeUnsigned(cancel({ nonce: 3n })),
    } as const
    expect(await ruleOf(canceling, signer), 'a cancel pays nobody').toBe('signed')
    clock.time = HOUR_MS
    expect(await ruleOf(withNonce(3n), signer)).toBe('signed')
  })

  test('of gas, where the highest cost of a nonce counts', async () => {
    const cost = 100n * gwei * 65_000n
    const { signer } = limited({ cost: 2n * cost + cost / 2n })
    const dearer = payment({ nonce: 1n, max_fee: 150n * gwei })
    for (const request of [
      withNonce(1n),
      { ...withNonce(1n), unsigned: encodeUnsigned(dearer) },
      withNonce(2n),
    ])
      expect(await ruleOf(request, signer)).toBe('signed')
    expect(await ruleOf(withNonce(3n), signer)).toBe('costs_per_hour')
  })

  test('count what was signed before the start, until an hour has passed', async () => {
    const clock = { time: HOUR_MS, now: () => clock.time }
    const own = { ...limits, per_hour: { ...per_hour, amount: 3_000_000n } }
    const before = { spends: '1', amount: 1_500_001n, cost: 0n, at: new Date(1000) }
    const signer = openSigner({
      clock,
      networks: { polygon: own, ethereum: own },
      signedBefore: async () => [
        { ...before, network: 'polygon' },
        { ...before, network: 'ethereum', spends: '2' },
      ],
    })
    expect(await ruleOf(withNonce(2n), signer)).toBe('amount_per_hour')
    expect(await ruleOf(withNonce(1n), signer), 'a replacement of what was signed').toBe('signed')
    clock.time = HOUR_MS + 1000
    expect(await ruleOf(withNonce(2n), signer)).toBe('signed')
  })

  test('sign nothing while what was signed before cannot be read', async () => {
    let is_down = true
    const signer = openSigner({
      async signedBefore() {
        if (is_down) throw new Error('no database')
        return []
      },
    })
    await expect(signer.sign(requestOf())).rejects.toThrow('no database')
    is_down = false
    expect(await ruleOf(requestOf(), signer)).toBe('signed')
  })

  test('are those of each network alone', async () => {
    const { signer } = limited({ count: 1 })
    expect(await ruleOf(withNonce(1n), signer)).toBe('signed')
    const to = networks.ethereum.usdt_contracts[0]
    const unsigned = payment({ chain_id: 1n, to })
    expect(await ruleOf(requestOf({ intent: intentOf({ network: 'ethereum' }), unsigned }), signer)).toBe(
      'signed',
    )
  })

  test('are not used up by refused requests', async () => {
    const { signer } = limited({ count: 1 })
    expect(await ruleOf(requestOf({ unsigned: payment({ nonce: 8n }) }), signer)).toBe('nonce')
    expect(await ruleOf(requestOf(), signer)).toBe('signed')
  })
})

describe('the seal', () => {
  test('is made with one key', async () => {
    const other = createHash('sha256').update('another seal key').digest()
    expect(await ruleOf(requestOf(), openSigner())).toBe('signed')
    expect(await ruleOf(requestOf(), openSigner({ sealKey: async () => other }))).toBe('seal')
  })

  test('keeps its fields apart', () => {
    const one = sealOf(seal_key, { ...intentOf(), transfer_id: 'tr_1","polygon' })
    const other = sealOf(seal_key, { ...intentOf(), transfer_id: 'tr_1' })
    expect(one).not.toBe(other)
    expect(one).toMatch(/^[0-9a-f]{64}$/)
  })

  test('needs a key of 32 bytes', () => {
    expect(() => sealOf(Buffer.alloc(31), intentOf())).toThrow('32 bytes')
  })
})

describe('the key of the wallet', () => {
  const bytes = Buffer.from(key, 'hex')
  const forms = [
    ...[key, key.toUpperCase(), BigInt(`0x${key}`).toString()],
    ...[bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('latin1')],
    ...[Buffer.from(key).toString('base64'), Buffer.from(key).toString('hex'), [...bytes].join(', ')],
  ]

  test('is in nothing that leaves the signer', async () => {
    const signer = openSigner()
    const errors: unknown[] = []
    const broken = [
      requestOf({ unsigned: 'nonsense' }),
      requestOf({ unsigned: payment({ nonce: 9n }) }),
      requestOf({ intent: intentOf({ seal: key }) }),
      undefined,
    ]
    for (const request of broken)
      errors.push(await signer.sign(request as SignRequest).catch((error) => error))
    const signed = await signer.sign(requestOf())
    const shown = [signer, signer.sign, signer.addresses, await signer.addresses(), signed, ...errors]
    const told = [
      inspect(shown, { depth: 20, showHidden: true, getters: true, maxArrayLength: null }),
      JSON.stringify(shown),
      ...errors.map((error) => String((error as Error).stack)),
      ...shown.map(String),
    ].join('\n')
    for (const form of forms) expect(told).not.toContain(form)
  })

  test.each([
    ['shorter', key.slice(2)],
    ['longer', `${key}00`],
    ['no hex', `${key.slice(0, 62)}zz`],
    ['zero', '0'.repeat(64)],
    ['above the order of the curve', 'f'.repeat(64)],
    ['with a line end', `${key}\n`],
  ])('is refused if it is %s, without being shown', (_, wrong) => {
    const opening = () => openSigner({ key: wrong })
    expect(opening).toThrow(/^The key of the wallet is not valid/)
    try {
      opening()
    } catch (error) {
      expect(inspect(error, { showHidden: true })).not.toContain(wrong.slice(0, 30))
    }
  })
})

test('amounts and addresses are encoded as viem does', () => {
  for (const amount of [1n, 1_500_000n, 10n ** 18n - 1n, 2n ** 256n - 1n]) {
    const theirs: Hex = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [destination_address, amount],
    })
    expect(transferData(destination_address, amount)).toBe(theirs)
  }
  expect(() => transferData(destination_address, 2n ** 256n)).toThrow('256 bits')
  expect(() => transferData(destination_address, -1n)).toThrow('256 bits')
  expect(() => transferData('0x12', 1n)).toThrow('40 hex digits')
})
