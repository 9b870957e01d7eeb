import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { TronWeb } from 'tronweb'
import { expect, onTestFinished, test } from 'vitest'
import { startTronStub } from '../../../../test/chains/tron-stub.ts'
import { networks } from '../../../core/networks.ts'
import { tronAddressOfKey } from './address.ts'
import { trc20TransferData } from './token.ts'
import { encodeRaw, refBlockOf, signRaw, tronFactsOf, txIdOf } from './transaction.ts'

/**
 * tronweb as a second opinion on every byte that is signed. It builds transactions without a node (`txLocal`), or asks one for nothing but
 * the newest block.
 */
const contract = networks.tron.usdt_contracts[0]

const openTronWeb = (url: string) => new TronWeb({ fullHost: url })

async function startDeafNode() {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    response.writeHead(500).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

type Order = {
  readonly wallet: string
  readonly to: string
  readonly amount: bigint
  readonly fee_limit: number
}

/** As tronweb builds the call `transfer(address,uint256)` of USDT. */
async function buildWithTronWeb(
  tronweb: TronWeb,
  { wallet, to, amount, fee_limit }: Order,
  header?: { ref_block_bytes: string; ref_block_hash: string; expiration: number; timestamp: number },
) {
  const parameters = [
    { type: 'address', value: to },
    { type: 'uint256', value: amount.toString() },
  ]
  const options = {
    feeLimit: fee_limit,
    callValue: 0,
    txLocal: true,
    ...(header ? { blockHeader: header } : {}),
  }
  const signature = 'transfer(address,uint256)'
  const built = await tronweb.transactionBuilder.triggerSmartContract(
    contract,
    signature,
    options,
    parameters,
    wallet,
  )
  return built.transaction
}

const hexOf = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => Buffer.from(array).toString('hex'))
const secrets = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .filter((bytes) => bytes[0]! > 0 && bytes[0]! < 255)

test('bytes, id and signature of any payment are those of tronweb', async () => {
  const { asked, url } = await startDeafNode()
  const tronweb = openTronWeb(url)
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        ...{ secret: secrets, recipient: secrets, amount: fc.bigInt(1n, 2n ** 256n - 1n) },
        fee_limit: fc.integer({ min: 1, max: 15_000_000_000 }),
        ...{
          timestamp: fc.integer({ min: 1, max: 2 ** 45 }),
          lives: fc.integer({ min: 1, max: 86_400_000 }),
        },
        ...{ bytes: hexOf(2), hash: hexOf(8) },
      }),
      async ({ secret, recipient, amount, fee_limit, timestamp, lives, bytes, hash }) => {
        const [wallet, to] = [tronAddressOfKey(secret), tronAddressOfKey(recipient)]
        const private_key = Buffer.from(secret).toString('hex')
        expect(TronWeb.address.fromPrivateKey(private_key)).toBe(wallet)
        const expiration = timestamp + lives
        const theirs = await buildWithTronWeb(
          tronweb,
          { wallet, to, amount, fee_limit },
          {
            ref_block_bytes: bytes,
            ref_block_hash: hash,
            expiration,
            timestamp,
          },
        )
        const raw = encodeRaw({
          ...{ owner: wallet, contract, data: trc20TransferData(to, amount) },
          ...{ ref_block: { bytes, hash }, fee_limit: BigInt(fee_limit) },
          ...{ expiration: BigInt(expiration), timestamp: BigInt(timestamp) },
        })
        expect(raw).toBe(theirs.raw_data_hex)
        expect(txIdOf(raw)).toBe(theirs.txID)
        const signed = await tronweb.trx.sign(theirs, private_key)
        const ours = signRaw(raw, secret)
        expect(ours.slice(-130)).toBe(signed.signature[0]!.toLowerCase())
        expect(tronFactsOf(ours)).toEqual({ raw, signer: wallet, tx_hash: theirs.txID })
      },
    ),
    { numRuns: 60 },
  )
  expect(asked, 'no node is asked').toEqual([])
})

test('the stub takes a payment that tronweb built over its newest block and signed', async () => {
  const stub = await startTronStub({ contract })
  onTestFinished(stub.stop)
  const secret = Buffer.alloc(32, 7)
  const [wallet, to] = [tronAddressOfKey(secret), tronAddressOfKey(Buffer.alloc(32, 8))]
  stub.fund(wallet, { tokens: 9_000_000n, sun: 100_000_000n })
  stub.mine()
  const tronweb = openTronWeb(stub.nodes[0]!.url)
  const built = await buildWithTronWeb(tronweb, { wallet, to, amount: 5_000_000n, fee_limit: 9_000_000 })
  expect([...stub.nodes[0]!.asked.keys()]).toEqual(['wallet/getblock'])
  const { ref_block_bytes, ref_block_hash } = built.raw_data
  expect({ bytes: ref_block_bytes, hash: ref_block_hash }).toEqual(refBlockOf(stub.head().hash))
  const signed = signRaw(built.raw_data_hex, secret)
  expect(stub.take(signed)).toEqual({ result: true, txid: built.txID })
  stub.mine()
  expect(stub.balanceOf(to)).toBe(5_000_000n)
})
