import { createHash, randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { startTronStub } from '../../../../test/chains/tron-stub.ts'
import { asAdmin, createDatabase } from '../../../../test/support/database.ts'
import { openDirectAccess } from '../../../../test/support/service.ts'
import { eventually } from '../../../../test/support/wait.ts'
import { audit } from '../../../ledger/audit.ts'
import { tronAddressOfKey } from '../../../rails/chain/tron/address.ts'
import { openTronRpc, type TronRpcOptions } from '../../../rails/chain/tron/nodes.ts'
import { trc20TransferData } from '../../../rails/chain/tron/token.ts'
import { encodeRaw, refBlockOf, signRaw } from '../../../rails/chain/tron/transaction.ts'
import { openTronRail } from '../../../rails/chain/tron.ts'
import { localTronSigner } from '../../../rails/signer/tron.ts'
import { tronChecks } from './audit.ts'
import { tronChain } from './chain.ts'
import { tronDrafts } from './drafts.ts'

/** What is read of solidified blocks, on a real database and a stub of Tron whose clock the test sets. */
const MINUTE_MS = 60_000
const DEPTH = 2

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function openStage(nodes = 1, health: Partial<TronRpcOptions> = {}) {
  let time = Date.now()
  const clock = { now: () => time }
  const stub = await startTronStub({ ...clock, solid_depth: DEPTH, nodes })
  closing.push(stub.stop)
  const key = createHash('sha256').update(randomBytes(8)).digest('hex')
  const wallet = tronAddressOfKey(Buffer.from(key, 'hex'))
  stub.fund(wallet, { tokens: 10n ** 9n, sun: 10n ** 9n })
  stub.mine(DEPTH + 1)
  const database = await createDatabase()
  const direct = openDirectAccess(database)
  closing.push(direct.stop)
  const { db } = direct.worlds.production
  const rpc = openTronRpc({
    ...{ urls: stub.nodes.map(({ url }) => url), genesis: stub.genesis, clock },
    ...{ rest_ms: 50, inspect_after_ms: 0, timeout_ms: 60_000, ...health },
  })
  closing.push(rpc.stop)
  const per_hour = { count: 10, amount: 10n ** 12n, cost: 10n ** 12n }
  const options = { key, sealKey: async () => randomBytes(32), fee_most: 30_000_000n, per_hour, clock }
  const rail = openTronRail({
    ...{ rpc, signer: localTronSigner(options), drafts: tronDrafts(() => db) },
    ...{ fee_most: 30_000_000n, clock },
  })
  const log = pino({ level: 'silent' })
  const chain = tronChain({ rail, db: () => db, clock: { ...direct.worlds.production.clock, ...clock }, log })
  return {
    ...{ stub, wallet, chain, db },
    /** A transfer that ended, or is pending, with its transactions; the first one is the one that was mined. */
    addTransfer: (status: 'pending' | 'confirmed', hashes: readonly string[] = []) =>
      asAdmin(database.url, [
        `SET search_path = live; SET session_replication_role = replica`,
        `INSERT INTO transfers (id, partner_id, customer_id, api_key_id, idempotency_key, asset, network, amount_net, fee, status,
           destination_address, tx_hash, signed_transaction, attempts, next_attempt_at, sequence, created_at, completed_at)
         VALUES ('tr_1', 'p', 'c', 'k', 'i', 'USDT', 'tron', 5, 0, '${status}', 'x', ${hashes[0] ? `'${hashes[0]}', 'signed'` : 'NULL, NULL'}, 1, now(), 1, now(),
           ${status === 'pending' ? 'NULL' : 'now()'})`,
        ...hashes.map(
          (
            hash,
            n,
          ) => `INSERT INTO transactions (transfer_id, attempt, network, purpose, tx_hash, signed, terms, created_at, block_height, block_hash)
            VALUES ('tr_1', ${n + 1}, 'tron', 'pay', '${hash}', 'x', '{}', now(), ${n === 0 ? `1, 'h'` : 'NULL, NULL'})`,
        ),
        `INSERT INTO open_transfers (partner_id, followed, created_at, id, status, next_attempt_at, network)
         SELECT partner_id, false, created_at, id, status, next_attempt_at, network FROM transfers WHERE status = 'pending'`,
      ]),
    async follow() {
      const client = await db.connect()
      try {
        return await chain.follow(client)
      } finally {
        client.release()
      }
    },
    pass(ms: number, blocks = DEPTH + 1) {
      time += ms
      stub.mine(blocks)
    },
    /** A payment that the service did not sign, in a block. */
    payElsewhere() {
      const timestamp = BigInt(time)
      const raw = encodeRaw({
        ...{
          owner: wallet,
          contract: stub.contract,
          data: trc20TransferData(tronAddressOfKey(randomBytes(32)), 5n),
        },
        ...{ ref_block: refBlockOf(stub.solid().hash), expiration: timestamp + 60_000n, timestamp },
        fee_limit: 30_000_000n,
      })
      expect(stub.take(signRaw(raw, Buffer.from(key, 'hex')))).toMatchObject({ result: true })
      const [hash] = stub.pool.keys()
      stub.mine(DEPTH + 1)
      return hash!
    },
    async audited() {
      const { findings } = await audit(db, tronChecks)
      return findings
        .filter(({ check }) => check.startsWith('every draft'))
        .flatMap(({ examples }) => examples.map(({ object_id, number }) => `${object_id} ${number}`))
        .sort()
    },
    paused: async () =>
      (await db.query(`SELECT paused_by FROM rail_controls WHERE paused_at IS NOT NULL`)).rows,
  }
}

test('nothing is known of the wallet before the blocks are read', async () => {
  const { chain, follow, wallet, pass } = await openStage()
  await expect(chain.wallet()).rejects.toMatchObject({ code: 'rail_unavailable' })
  expect(await follow()).toEqual({ kind: 'at_head', foreign: [], tip: undefined })
  expect(await chain.wallet()).toMatchObject({ wallet, mined: 0n, pool: 0n, claimed: 0n })
  pass(3000, 20)
  await expect(chain.wallet(), 'too far behind').rejects.toMatchObject({ code: 'rail_unavailable' })
  await follow()
  expect(await chain.wallet()).toMatchObject({ pool: 0n })
})

test('a payment from elsewhere pauses the rail, once, and counts as an unknown nonce', async () => {
  const { chain, follow, payElsewhere, paused, db } = await openStage()
  await follow()
  payElsewhere()
  expect(await follow()).toMatchObject({ kind: 'at_head', foreign: [expect.any(String)] })
  expect(await paused()).toEqual([{ paused_by: 'service' }])
  expect(await chain.wallet()).toMatchObject({ final: 1n, mined: 1n, pool: 1n, claimed: 1n })
  expect(await follow()).toMatchObject({ foreign: [] })
  const { rows } = await db.query(
    `SELECT count(*)::integer AS told FROM exceptions WHERE kind = 'foreign_transactions'`,
  )
  expect(rows).toEqual([{ told: 1 }])
})

test('a block whose transactions a node does not tell is read again, and its payment from elsewhere is found', async () => {
  const { follow, payElsewhere, paused, stub } = await openStage()
  await follow()
  payElsewhere()
  stub.nodes[0]!.lie = (path, answer) => (path.endsWith('gettransactioninfobyblocknum') ? [] : answer)
  await expect(follow()).rejects.toThrow(/whose transactions one of them does not have/)
  stub.nodes[0]!.lie = undefined
  expect(await follow()).toMatchObject({ kind: 'at_head', foreign: [expect.any(String)] })
  expect(await paused()).toEqual([{ paused_by: 'service' }])
})

test('after a restore or a promotion nothing is signed until all that was signed before has expired', async () => {
  const { chain, follow, pass, db } = await openStage()
  await follow()
  expect(await chain.wallet()).toMatchObject({ pool: 0n })
  // As another timeline left the row, a few seconds ago.
  await db.query(`UPDATE wallet_scans SET read_in = left(read_in, -8) || '0000FFFF'`)
  await expect(chain.wallet(), 'before the first reading').rejects.toMatchObject({ code: 'rail_unavailable' })
  await follow()
  for (let minute = 0; minute < 11; minute++) {
    await expect(chain.wallet()).rejects.toMatchObject({ code: 'rail_unavailable' })
    pass(MINUTE_MS)
    await follow()
  }
  pass(3000)
  await follow()
  expect(await chain.wallet()).toMatchObject({ pool: 0n })
})

test('a wallet that is new in a database that has paid on Tron begins with a quiet time', async () => {
  const { chain, follow, pass, addTransfer, db } = await openStage()
  await addTransfer('confirmed', ['ab'.repeat(32)])
  await follow()
  await expect(chain.wallet()).rejects.toMatchObject({ code: 'rail_unavailable' })
  for (let minute = 0; minute < 12; minute++) {
    pass(MINUTE_MS)
    await follow()
  }
  expect(await chain.wallet()).toMatchObject({ claimed: 0n })
  expect((await db.query('SELECT count(*)::integer AS count FROM wallet_scans')).rows).toEqual([{ count: 1 }])
})

test('a second payment of a transfer that has ended is an exception', async () => {
  const { follow, payElsewhere, addTransfer, paused, db } = await openStage()
  await follow()
  const second = payElsewhere()
  await addTransfer('confirmed', ['ab'.repeat(32), second])
  expect(await follow()).toMatchObject({ kind: 'at_head', foreign: [] })
  expect(await paused()).toEqual([])
  const { rows } = await db.query(`SELECT kind, object_id, details -> 'rail_says' AS said FROM exceptions`)
  expect(rows).toEqual([
    { kind: 'contradiction', object_id: 'tr_1', said: { kind: 'mined', tx_hash: second } },
  ])
})

describe('after a gap in the reading', () => {
  test('nothing is signed until all that was signed before has expired', async () => {
    const { chain, follow, pass } = await openStage()
    await follow()
    pass(3 * MINUTE_MS)
    await follow()
    await expect(chain.wallet()).rejects.toMatchObject({ code: 'rail_unavailable' })
    const later = await chain.attempt(
      {
        ...({ id: 'tr_1', asset: 'USDT', network: 'tron', destination_address: '', amount: 1n } as const),
        ...{ created_at: new Date(), seal: null },
      },
      { wallet: '', nonce: 0n },
      [],
      'pay',
    )
    expect(later).toMatchObject({ kind: 'later', why: 'endpoints_unavailable' })
    for (let minute = 0; minute < 11; minute++) {
      pass(MINUTE_MS - 1000)
      await follow()
      await expect(chain.wallet()).rejects.toMatchObject({ code: 'rail_unavailable' })
    }
    pass(MINUTE_MS)
    await follow()
    expect(await chain.wallet()).toMatchObject({ pool: 0n })
  })

  test('a copy from a quiet time is quiet again when it is restored after that time', async () => {
    const { chain, follow, pass, db } = await openStage()
    const passMinutes = async (count: number) => {
      for (let minute = 0; minute < count; minute++) {
        pass(MINUTE_MS)
        await follow()
      }
    }
    await follow()
    pass(3 * MINUTE_MS)
    await follow()
    const {
      rows: [copy],
    } = await db.query('SELECT height, hash, block_at, quiet_until FROM wallet_scans')
    await passMinutes(13)
    expect(await chain.wallet()).toMatchObject({ pool: 0n })
    await passMinutes(10)
    await db.query('UPDATE wallet_scans SET height = $1, hash = $2, block_at = $3, quiet_until = $4', [
      ...[copy.height, copy.hash, copy.block_at, copy.quiet_until],
    ])
    await follow()
    await expect(chain.wallet()).rejects.toMatchObject({ code: 'rail_unavailable' })
    await passMinutes(10)
    await expect(chain.wallet()).rejects.toMatchObject({ code: 'rail_unavailable' })
    await passMinutes(2)
    expect(await chain.wallet()).toMatchObject({ pool: 0n })
  })

  test('what was paid in it is found', async () => {
    const { follow, pass, payElsewhere, paused } = await openStage()
    await follow()
    pass(MINUTE_MS)
    payElsewhere()
    pass(60 * MINUTE_MS, 30)
    expect(await follow()).toMatchObject({ foreign: [expect.any(String)] })
    expect(await paused()).toEqual([{ paused_by: 'service' }])
  })
})

describe('a solidified head that stands still', () => {
  /** Answers as of now, for all later questions about the newest solidified block. */
  const freeze = ({ stub }: Awaited<ReturnType<typeof openStage>>, node: number) => {
    let frozen: unknown
    stub.nodes[node]!.lie = (path, answer, body) => {
      if (path !== 'walletsolidity/getblock' || body.id_or_num !== undefined) return answer
      frozen ??= answer
      return frozen
    }
  }

  test('of one endpoint of three hides no payment from elsewhere, and ends no quiet time', async () => {
    const stage = await openStage(3)
    const { chain, follow, pass, payElsewhere, paused } = stage
    await follow()
    freeze(stage, 2)
    await follow()
    payElsewhere()
    pass(15 * MINUTE_MS, 30)
    const followed = await eventually(async () => {
      const read = await follow()
      expect(read.foreign).toHaveLength(1)
      return read
    })
    expect(followed).toMatchObject({ kind: 'at_head' })
    expect(await paused()).toEqual([{ paused_by: 'service' }])
    await expect(chain.wallet(), 'quiet after the gap').rejects.toMatchObject({ code: 'rail_unavailable' })
  })

  test('of the only endpoint stops all signatures, and begins a quiet time', async () => {
    // Without the inspection, which would rest this endpoint.
    const stage = await openStage(1, { final_age_most_ms: Infinity })
    const { chain, follow, pass, db } = stage
    await follow()
    freeze(stage, 0)
    expect(await chain.wallet()).toMatchObject({ pool: 0n })
    pass(4 * MINUTE_MS)
    await expect(chain.wallet()).rejects.toMatchObject({ code: 'rail_unavailable' })
    await follow()
    const { rows } = await db.query('SELECT quiet_until IS NOT NULL AS is_quiet FROM wallet_scans')
    expect(rows).toEqual([{ is_quiet: true }])
  })
})

test('the audit names drafts that the service did not make', async () => {
  const { db, addTransfer, audited } = await openStage()
  await addTransfer('pending')
  await db.query(`UPDATE transfers SET nonce = 0, wallet_id = 'tron:T'`)
  const add = (number: number, transfer_id: string, tx_hash: string, expires_in_s: number | undefined) =>
    db.query(
      `INSERT INTO drafts (transfer_id, number, tx_hash, unsigned, terms, created_at) VALUES ($1, $2, $3, $4, $5, clock_timestamp())`,
      [
        ...[transfer_id, number, tx_hash, `0a0${number}`],
        expires_in_s === undefined ? {} : { expiration: `${Date.now() + expires_in_s * 1000}` },
      ],
    )
  const hashOf = (number: number) =>
    createHash('sha256')
      .update(Buffer.from([10, number]))
      .digest('hex')
  await add(1, 'tr_1', hashOf(1), 600)
  expect(await audited()).toEqual([])
  await add(2, 'tr_1', hashOf(9), 600)
  await add(3, 'tr_1', hashOf(3), undefined)
  await add(4, 'tr_1', hashOf(4), 6000)
  await add(6, 'tr_1', hashOf(6), 600)
  await add(1, 'tr_2', hashOf(7), 600)
  expect(await audited()).toEqual(['tr_1 2', 'tr_1 3', 'tr_1 4', 'tr_1 6', 'tr_2 1'])
})
