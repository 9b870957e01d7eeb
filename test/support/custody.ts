import { perform } from '../../src/control/operator/actions.ts'
import { type Network, networks } from '../../src/core/networks.ts'
import { openOwner } from '../../src/db/pool.ts'
import type { Command } from '../../src/ledger/command.ts'
import { reconcile } from '../../src/money/custody/reconcile.ts'
import { findForeignNonces, type NonceGap } from '../../src/money/custody/wallets.ts'
import { chainBooks } from '../../src/money/onchain/books.ts'
import type { ChainRail } from '../../src/rails/chain/rail.ts'
import type { World } from '../../src/world.ts'
import { openEvmStage, type SceneOptions } from '../chains/evm-stage.ts'
import { type Bench, type BenchOptions, openBench } from './rail-bench.ts'

/** A world whose transfers on polygon are paid from a wallet on anvil. */
export type CustodyStage = Awaited<ReturnType<typeof openCustodyStage>>

export async function openCustodyStage(options: SceneOptions & { chain?: Partial<ChainRail> } = {}) {
  const { chain: changes, ...scene_options } = options
  const stage = await openEvmStage('polygon')
  const scene = await stage.open({ replace_after_ms: 3_600_000, ...scene_options })
  const parts = {
    chain: { ...scene.chain, ...changes } as Partial<ChainRail> as Partial<ChainRail<'sandbox'>>,
    transferSeals: async () => scene.seal,
  } satisfies BenchOptions
  const bench: Bench = await openBench(parts)
  return {
    ...{ stage, scene, bench, parts, world: bench.world },
    /** Orders a transfer to an address of its own. */
    async transfer(customer_id: string, amount = 1_500_000n) {
      const { destination_address } = scene.order()
      return bench.transfer(customer_id, { network: 'polygon', amount, destination_address })
    },
    /** How many transactions of the wallet the node knows. */
    sent: async () =>
      Number(await stage.node.call<string>('eth_getTransactionCount', scene.wallet, 'pending')),
    async stop() {
      await bench.stop()
      await stage.stop()
    },
  }
}

/** Makes one database hold the rows of another one, as a restored backup would. */
export async function copyRows(from_url: string, to_url: string): Promise<void> {
  const from = await openOwner(from_url, 'test')
  const to = await openOwner(to_url, 'test')
  try {
    await to.query(`SET session_replication_role = replica`)
    const { rows: tables } = await from.query(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_schema IN ('sandbox', 'shared') AND table_type = 'BASE TABLE' AND table_name NOT IN ('migrations', 'functions')`,
    )
    for (const { name } of tables) {
      const { rows } = await from.query(`SELECT coalesce(json_agg(t), '[]')::text AS rows FROM ${name} t`)
      await to.query(`DELETE FROM ${name}`)
      await to.query(
        `INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${name}, $1::json)`,
        [rows[0].rows],
      )
    }
  } finally {
    await from.end()
    await to.end()
  }
}

/** Books as a custody move what the wallet holds on polygon and the books do not have, or the other way round. */
export async function bookDifference(world: World, rail: Network = 'polygon'): Promise<bigint> {
  const { difference, id: reference } = await reconcile(world, rail, chainBooks)
  if (difference === 0n) return difference
  const [direction, amount] =
    difference > 0n ? (['to_rail', difference] as const) : (['from_rail', -difference] as const)
  await perform(world, {
    name: 'move_custody',
    details: {
      ...({ rail, asset: networks[rail].asset, direction, amount: amount.toString() } as const),
      ...{ reason: 'test', reference },
    },
  })
  return difference
}

/** Accepts the foreign nonces of a wallet, as the resume of its rail does, without a pause and a proposal. */
export async function acceptForeignNonces(
  world: World,
  { network, ...accepted }: { network: Network; reason: string; proposal_id: string | null },
): Promise<NonceGap | undefined> {
  const found = await findForeignNonces(world, network, { books: chainBooks })
  if (!found) return undefined
  const command: Command<NonceGap | undefined> = {
    partner_id: '',
    locks: { rows: found.rows },
    decide(held) {
      const { writes, gap } = found.accept(held, accepted)
      return { writes, result: gap }
    },
  }
  return world.commit(command)
}
