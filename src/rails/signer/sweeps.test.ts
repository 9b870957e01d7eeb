import { randomBytes } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { addr } from 'micro-eth-signer'
import { expect, test } from 'vitest'
import { networks } from '../../core/networks.ts'
import { transferData } from '../chain/evm/token.ts'
import { type EvmTransaction, encodeUnsigned, factsOfSigned } from '../chain/evm/transaction.ts'
import { openDepositKeys } from './deposit-keys.ts'
import { localSweepSigner, type SweepPurpose } from './sweeps.ts'

/** The signer of sweeps is handed bytes by a program that may be wrong or taken over. */
const ETHER = 10n ** 18n
const GWEI = 10n ** 9n
const { privateExtendedKey, publicExtendedKey } = HDKey.fromMasterSeed(randomBytes(32))
const keys = openDepositKeys(privateExtendedKey, publicExtendedKey)
const randomAddress = () => addr.fromPrivateKey(new Uint8Array(randomBytes(32)))
const wallet = randomAddress()
const contract = networks.polygon.usdt_contracts[0]
const addressAt = (index: number) => addr.fromPrivateKey(keys.secretAt(index))

function open(changes: { count?: number; cost?: bigint; signedBefore?: () => Promise<never[]> } = {}) {
  const { count = 100, cost = 100n * ETHER, ...rest } = changes
  const limits = { wallet, cost_most_wei: ETHER, per_hour: { count, cost } }
  return localSweepSigner({ keys, networks: { polygon: limits }, ...rest })
}

const fund: EvmTransaction = {
  ...{ chain_id: 137n, nonce: 0n, to: addressAt(7), value: ETHER / 100n, data: '0x', gas_limit: 25_200n },
  ...{ max_fee: 100n * GWEI, priority: GWEI },
}
const sweep: EvmTransaction = {
  ...{ chain_id: 137n, nonce: 0n, to: contract, data: transferData(wallet, 5_000_000n), gas_limit: 65_000n },
  ...{ max_fee: 100n * GWEI, priority: GWEI },
}

const sign = (
  transaction: EvmTransaction | string,
  purpose: SweepPurpose,
  {
    signer = open(),
    network = 'polygon',
    address_index = 7,
  }: { signer?: ReturnType<typeof open>; network?: 'polygon' | 'arbitrum'; address_index?: number } = {},
) =>
  signer.sign({
    ...{ sweep_id: 'swp_1', network, purpose, address_index },
    unsigned: typeof transaction === 'string' ? transaction : encodeUnsigned(transaction),
  })

test('gas is signed by the gas account, tokens by their address', async () => {
  const signer = open()
  expect(signer.gas_account).toBe(addr.fromPrivateKey(keys.gasSecret()))
  expect(factsOfSigned((await sign(fund, 'fund')).signed)?.sender).toBe(signer.gas_account.toLowerCase())
  expect(factsOfSigned((await sign(sweep, 'sweep')).signed)?.sender).toBe(addressAt(7).toLowerCase())
})

const refused: [string, SweepPurpose, EvmTransaction, string][] = [
  ['tokens to another recipient', 'sweep', { ...sweep, data: transferData(randomAddress(), 5n) }, 'data'],
  [
    'tokens to the gas account',
    'sweep',
    { ...sweep, data: transferData(addr.fromPrivateKey(keys.gasSecret()), 5n) },
    'data',
  ],
  ['no tokens', 'sweep', { ...sweep, data: transferData(wallet, 0n) }, 'data'],
  [
    'another call',
    'sweep',
    { ...sweep, data: transferData(wallet, 5n).replace('0xa9059cbb', '0x095ea7b3') },
    'data',
  ],
  ['more data behind the call', 'sweep', { ...sweep, data: `${transferData(wallet, 5n)}00` }, 'data'],
  ['no data', 'sweep', { ...sweep, data: '0x' }, 'data'],
  ['another contract', 'sweep', { ...sweep, to: randomAddress() }, 'to'],
  ['a sweep that carries ether', 'sweep', { ...sweep, value: 1n }, 'value'],
  ['a sweep of another chain', 'sweep', { ...sweep, chain_id: 1n }, 'chain_id'],
  ['a sweep above the cap', 'sweep', { ...sweep, max_fee: ETHER / 65_000n + 1n }, 'fee_cap'],
  ['gas to an address that is not the one of the index', 'fund', { ...fund, to: addressAt(8) }, 'to'],
  ['gas to a stranger', 'fund', { ...fund, to: randomAddress() }, 'to'],
  ['gas to the wallet', 'fund', { ...fund, to: wallet }, 'to'],
  ['gas above the cap', 'fund', { ...fund, value: ETHER + 1n }, 'value'],
  ['no gas', 'fund', { ...fund, value: 0n }, 'value'],
  ['gas with a call', 'fund', { ...fund, data: transferData(wallet, 1n) }, 'data'],
  ['gas of another chain', 'fund', { ...fund, chain_id: 10n }, 'chain_id'],
  ['gas whose fee is above the cap', 'fund', { ...fund, max_fee: ETHER / 25_200n + 1n }, 'fee_cap'],
  ['a sweep as gas', 'fund', sweep, 'to'],
  ['gas as a sweep', 'sweep', fund, 'to'],
]

test.each(refused)('%s is refused', async (_, purpose, transaction, rule) => {
  await expect(sign(transaction, purpose)).rejects.toMatchObject({ rule })
})

test('bytes that are no transaction, signed ones, and a network without limits are refused', async () => {
  await expect(sign('0x02c0', 'sweep')).rejects.toMatchObject({ rule: 'encoding' })
  const { signed } = await sign(sweep, 'sweep')
  await expect(sign(signed, 'sweep')).rejects.toMatchObject({ rule: 'already_signed' })
  await expect(sign(sweep, 'sweep', { network: 'arbitrum' })).rejects.toMatchObject({ rule: 'network' })
  await expect(sign(sweep, 'pay' as SweepPurpose)).rejects.toMatchObject({ rule: 'purpose' })
})

test('an hour has a bound on signatures and on what they may cost, gas that is sent included', async () => {
  const twice = open({ count: 2 })
  await sign(fund, 'fund', { signer: twice })
  await sign(sweep, 'sweep', { signer: twice })
  await expect(sign(sweep, 'sweep', { signer: twice })).rejects.toMatchObject({ rule: 'count_per_hour' })
  const cost = fund.max_fee * fund.gas_limit + fund.value!
  const once = open({ cost })
  await sign(fund, 'fund', { signer: once })
  // A replacement spends the same nonce, and counts once.
  await sign(fund, 'fund', { signer: once })
  await expect(sign({ ...fund, nonce: 1n }, 'fund', { signer: once })).rejects.toMatchObject({
    rule: 'costs_per_hour',
  })
})

test('while what was signed before cannot be read, nothing is signed', async () => {
  const signer = open({ signedBefore: () => Promise.reject(new Error('no database')) })
  await expect(sign(sweep, 'sweep', { signer })).rejects.toThrow('no database')
})
