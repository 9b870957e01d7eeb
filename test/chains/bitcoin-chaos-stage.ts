import { randomBytes } from 'node:crypto'
import type { MoneyAction } from '../../src/control/operator/actions.ts'
import { addCustomer } from '../../src/parties/customers/customers.ts'
import type { World } from '../../src/world.ts'
import { type Api, openApi } from '../support/api.ts'
import { asAdmin, createDatabase } from '../support/database.ts'
import { openDesk } from '../support/operators.ts'
import { openDirectAccess, someCpf, spawnServer, testEnv } from '../support/service.ts'
import { openBitcoinChain } from './bitcoin-chain.ts'
import { openTestWallet } from './bitcoin-wallet.ts'

/** Servers, each a process of its own, over one database. Their production world pays BTC on a chain that misbehaves. */
export type BitcoinChaosStage = Awaited<ReturnType<typeof openBitcoinChaosStage>>

export type ServiceNode = Awaited<ReturnType<typeof spawnServer>>

export type BitcoinTransfer = {
  readonly id: string
  readonly status: 'pending' | 'processing' | 'confirmed' | 'failed'
  readonly amount_net: bigint
  readonly charged: bigint | null
  readonly destination_address: string
  readonly tx_hash: string | null
  readonly nonce: bigint | null
  readonly failure_code: string | null
}

export type BitcoinAttempt = {
  readonly transfer_id: string
  readonly tx_hash: string
  readonly attempt: number
  readonly purpose: 'pay' | 'cancel'
  readonly signed: string
  readonly rate: string
}

const LEASE_MS = 6000
const COINS = 30

export async function openBitcoinChaosStage() {
  const wallet = openTestWallet(randomBytes(32))
  const chain = await openBitcoinChain(wallet, COINS)
  const database = await createDatabase()
  const { main, second, endpoints, funded } = chain
  const settings = {
    ...{ BITCOIN_GENESIS: main.genesis, BITCOIN_START_HEIGHT: '0', RAIL_TIMEOUT_MS: '2000' },
    ...{ BITCOIN_WALLET_KEY: wallet.key, BITCOIN_WALLET: wallet.address },
  }
  const direct = openDirectAccess(database, undefined, {
    ...settings,
    BITCOIN_RPC: [main.url, second.url].join(', '),
  })
  const env = testEnv(database.url, {
    ...{ ...settings, BITCOIN_RPC: endpoints.map(({ url }) => url).join(', ') },
    ...{ LEASE_MS: String(LEASE_MS), RECONCILE_EVERY_MS: '10000', LOG_LEVEL: 'debug' },
  })
  const partner = await direct.partner('', { environment: 'production' })
  const started: ServiceNode[] = []
  const world = direct.worlds.production
  const { propose, approve } = openDesk(() => direct.office)

  /** One operator proposes, another one approves. */
  const byTwo = async (action: MoneyAction) => {
    const { id } = await propose(world, action, 'maria@operator.example')
    await approve(world, id, 'joao@operator.example')
  }
  await byTwo({
    name: 'move_custody',
    details: {
      ...{ rail: 'bitcoin', asset: 'BTC', direction: 'to_rail', amount: funded.toString() },
      ...{ reason: 'mined', reference: 'coins' },
    },
  })

  return {
    ...direct,
    ...{ chain, wallet, env, byTwo, propose, approve, ...openRows(world, database.url) },
    async start(more: Record<string, string> = {}): Promise<ServiceNode> {
      const node = await spawnServer({ ...env, ...more })
      started.push(node)
      return node
    },
    /** The text that all servers have printed. */
    output: (): string => started.map((node) => node.output()).join('\n'),
    client: (url: string): Api => openApi(url, partner.key),
    async customer(units: bigint): Promise<string> {
      const { partner_id } = partner
      const { id } = await addCustomer(world, { partner_id, name: 'Ana Souza', document: someCpf() })
      const details = { partner_id, customer_id: id, asset: 'BTC', amount: units.toString() } as const
      const order = { ...details, reason: 'funding', reference: randomBytes(6).toString('hex') }
      await byTwo({ name: 'credit', details: order })
      return id
    },
    async stop(): Promise<void> {
      await Promise.all(started.map((node) => node.kill('SIGKILL')))
      await direct.stop()
      await chain.stop()
    },
  }
}

/** What the service has stored, and times of it that a test does not wait for. */
function openRows(world: World, database_url: string) {
  /** When transactions were made, by their hash, where `age` changed it. */
  const made_at = new Map<string, string>()
  const setMadeAt = (tx_hash: string, time: string) =>
    asAdmin(database_url, [
      'SET session_replication_role = replica',
      `UPDATE live.transactions SET created_at = ${time} WHERE tx_hash = '${tx_hash}'`,
    ])
  return {
    async transfers(): Promise<BitcoinTransfer[]> {
      const { rows } = await world.db.query(
        'SELECT id, status, amount_net, charged, destination_address, tx_hash, nonce, failure_code FROM transfers ORDER BY id',
      )
      return rows
    },
    async transactions(transfer_id?: string): Promise<BitcoinAttempt[]> {
      const { rows } = await world.db.query(
        `SELECT transfer_id, tx_hash, attempt, purpose, signed, terms ->> 'rate' AS rate FROM transactions
          WHERE $1::text IS NULL OR transfer_id = $1 ORDER BY transfer_id, attempt`,
        [transfer_id ?? null],
      )
      return rows
    },
    /** The block at this height, or the newest one, as the service has stored it. */
    async followed(height?: number): Promise<string | undefined> {
      const { rows } = await world.db.query(
        'SELECT hash FROM blocks WHERE $1::bigint IS NULL OR height = $1 ORDER BY height DESC LIMIT 1',
        [height ?? null],
      )
      return rows[0]?.hash
    },
    /** Payments that the service has seen in blocks above this height. */
    async minedAbove(height: number): Promise<number> {
      const { rows } = await world.db.query(
        'SELECT count(DISTINCT spent_by)::integer AS count FROM coins WHERE spent_height > $1',
        [height],
      )
      return rows[0].count
    },
    /**
     * Makes transfers due whose next question is later than any lease could last, so that a test does not wait for the pauses
     * between questions.
     */
    async hurry(): Promise<void> {
      await asAdmin(database_url, [
        `UPDATE live.transfers SET next_attempt_at = now() WHERE status IN ('pending', 'processing')
          AND next_attempt_at > now() + interval '${LEASE_MS + 500} ms'`,
      ])
    },
    /** The service asks now about the blocks in which transfers ended, and not in some minutes. */
    async askAgain(): Promise<void> {
      await asAdmin(database_url, [
        `UPDATE live.follow_ups SET ask_at = now(), asked = 0 WHERE ask_at > now() + interval '20 seconds'`,
      ])
    },
    /** Transfers that have ended in a block that was not final when the service asked. */
    async watched(): Promise<number> {
      const { rows } = await world.db.query(
        'SELECT count(*)::integer AS count FROM follow_ups WHERE ask_at IS NOT NULL',
      )
      return rows[0].count
    },
    /** Makes the transactions of these transfers older, so that they count as stuck. Newer ones follow at the next call. */
    async age(transfer_ids: readonly string[], by: string): Promise<void> {
      const { rows } = await world.db.query(
        'SELECT tx_hash, created_at::text AS at FROM transactions WHERE transfer_id = ANY($1)',
        [transfer_ids],
      )
      for (const { tx_hash, at } of rows.filter((row) => !made_at.has(row.tx_hash))) {
        made_at.set(tx_hash, at)
        await setMadeAt(tx_hash, `created_at - interval '${by}'`)
      }
    },
    /** What `age` changed is as it was. */
    async restoreAges(): Promise<void> {
      for (const [tx_hash, at] of made_at) await setMadeAt(tx_hash, `'${at}'`)
    },
  }
}
