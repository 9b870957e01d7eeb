import { refuse } from '../../core/errors.ts'
import { type Network, networks } from '../../core/networks.ts'
import type { Db } from '../../db/pool.ts'
import {
  type Held,
  insertInto,
  type RowRef,
  rowSource,
  updateOf,
  type Write,
  writeTo,
} from '../../ledger/command.ts'
import type { WalletState } from '../../rails/chain/rail.ts'
import {
  closeForeignTransactions,
  closeOpenException,
  exceptionsAbout,
  recordException,
} from '../../records/exceptions/store.ts'
import type { World } from '../../world.ts'
import { type ChainBooks, differenceInWords, reconcile } from './reconcile.ts'

/**
 * The wallets that pay transfers, and their nonces. Every nonce belongs to one transfer, or to a gap: transactions that were made
 * elsewhere and that two operators accepted.
 */
type Wallet = {
  readonly id: string
  readonly next_nonce: bigint
}

/** Locked last: commands that hold any other locks may reserve a nonce. */
export const walletRows = {
  ...rowSource<Wallet>(
    'wallets',
    'SELECT id, next_nonce FROM wallets WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE',
  ),
  last: true,
} as const

export const updateWallets = updateOf(walletRows, 'wallets', { id: 'text', next_nonce: 'bigint' })

const insertGaps = insertInto('wallet_gaps', {
  wallet_id: 'text',
  first_nonce: 'bigint',
  next_nonce: 'bigint',
  reason: 'text',
  proposal_id: 'text?',
  created_at: 'timestamptz',
})

export const walletIdOf = (network: string, address: string): string => `${network}:${address}`

/** A new wallet starts at nonce 0. If the chain knows transactions of it, operators accept them as a gap first. */
export async function addWallet(
  db: Db,
  network: string,
  { wallet }: Pick<WalletState, 'wallet'>,
): Promise<void> {
  await db.query({
    name: 'add wallet',
    text: `INSERT INTO wallets (id, network, address, first_nonce, next_nonce, created_at)
      SELECT $1, $2, $3, 0, 0, clock_timestamp() WHERE NOT EXISTS (SELECT FROM wallets WHERE id = $1) ON CONFLICT DO NOTHING`,
    values: [walletIdOf(network, wallet), network, wallet],
  })
}

/** The wallet's next nonce in the database; 0 for a wallet that the database does not know. */
export async function nextNonceOf(db: Db, wallet_id: string): Promise<bigint> {
  const { rows } = await db.query<{ next_nonce: bigint }>({
    name: 'next nonce',
    text: 'SELECT next_nonce FROM wallets WHERE id = $1',
    values: [wallet_id],
  })
  return rows[0]?.next_nonce ?? 0n
}

/**
 * Whether the chain may know transactions of the wallet that the database does not know. On Bitcoin `claimed` is counted from the wallet's
 * next number, which another transfer may have taken since the nodes were asked. So what the mempools showed counts by itself.
 */
export const isAhead = ({ claimed, is_unclear, spent_in_pool }: WalletState, next_nonce: bigint): boolean =>
  claimed > next_nonce || is_unclear === true || spent_in_pool !== undefined

export type ForeignTransactions = {
  readonly network: Network
  readonly state: Pick<WalletState, 'wallet' | 'mined' | 'pool' | 'spent_in_pool'>
  readonly next_nonce: bigint
}

/**
 * Opens the exception about foreign transactions. One that is open stays open if it has all that is known now; otherwise a new one takes its
 * place. Returns the text of the problem.
 */
export async function recordForeign(
  world: Pick<World, 'db' | 'clock'>,
  { network, state, next_nonce }: ForeignTransactions,
): Promise<string> {
  const { wallet, mined, pool, spent_in_pool = [] } = state
  const unknown = pool - next_nonce
  const has = unknown === 1n ? '1 transaction' : `${unknown} transactions`
  // On EVM networks the count only rises while the rail is paused: an exception must name the highest, or a later resume forgets some of
  // them. On Bitcoin it counts those of mempools as one, so their coins are named.
  const object_id = walletIdOf(network, wallet)
  const open = await openForeign(world, object_id)
  const is_higher = networks[network].kind === 'evm' && open !== undefined && open.next_nonce_known < pool
  if (open && (is_higher || !namesCoins(open, spent_in_pool)))
    await closeOpenException(world.db, { kind: FOREIGN, object_id, reason: MORE })
  const named = [...new Set([...(open?.coins ?? []), ...spent_in_pool])]
  const problem = `${network} has ${has} of wallet ${wallet} that this database does not know. The database may be restored from a backup, or another program uses the wallet's key.`
  const facts = { next_nonce_here: next_nonce, next_nonce_mined: mined, next_nonce_known: pool }
  await recordException(world.db, world.clock, {
    kind: FOREIGN,
    rail: network,
    object_id,
    partner_id: null,
    details: { problem, ...facts, ...(named.length > 0 ? { coins: named } : {}) },
  })
  return problem
}

const FOREIGN = 'foreign_transactions'
/** A message names so many coins at most. */
const GONE_MOST = 5
const MORE = 'There are more such transactions by now: a new exception counts them.'

/**
 * While a rail is paused, nothing compares its nonces with the database, so a resume may be the first to find foreign transactions.
 * Operators accept only transactions that an exception named before the resume was proposed: what these paid could be paid again.
 */
async function assertLookedAt(
  world: World,
  { network, state, next_nonce }: ForeignTransactions,
  proposed_at: Date | undefined,
): Promise<void> {
  const object_id = walletIdOf(network, state.wallet)
  const open = await openForeign(world, object_id)
  const counts_all = open !== undefined && open.next_nonce_known >= state.pool
  const names_all = counts_all && namesCoins(open, state.spent_in_pool ?? [])
  if (names_all && (proposed_at === undefined || open.opened_at < proposed_at)) return
  const spent_in_pool = [...(open?.coins ?? []), ...(state.spent_in_pool ?? [])]
  if (open && !names_all) await closeOpenException(world.db, { kind: FOREIGN, object_id, reason: MORE })
  const problem = await recordForeign(world, { network, state: { ...state, spent_in_pool }, next_nonce })
  refuse('not_possible', {
    message: `${problem} Nothing was changed. Look up each of them: what it paid must not be paid again (docs/operate/custody.md). Then propose anew to resume the rail.`,
    details: { reason: 'foreign_transactions_found' },
  })
}

async function openForeign(world: Pick<World, 'db'>, object_id: string) {
  const found = (await exceptionsAbout(world.db, object_id)).find(
    ({ kind, closed_at }) => kind === FOREIGN && closed_at === null,
  )
  if (!found) return undefined
  const { next_nonce_known, coins = [] } = found.details
  return {
    ...{ id: found.id, opened_at: found.opened_at },
    next_nonce_known: BigInt(String(next_nonce_known)),
    coins: coins as readonly string[],
  }
}

type OpenForeign = NonNullable<Awaited<ReturnType<typeof openForeign>>>

const namesCoins = ({ coins }: OpenForeign, spent: readonly string[]): boolean =>
  spent.every((coin) => coins.includes(coin))

/** Those of the coins that no stored block spends. */
async function withoutSpent(db: Db, coins: readonly string[]): Promise<readonly string[]> {
  if (coins.length === 0) return []
  const { rows } = await db.query<{ id: string }>({
    name: 'coins spent',
    text: 'SELECT id FROM coins WHERE id = ANY($1) AND spent_by IS NOT NULL',
    values: [coins],
  })
  return coins.filter((coin) => !rows.some(({ id }) => id === coin))
}

/**
 * A transaction that the endpoints showed and do not show any more may still be in other mempools: when it is mined after the resume, what
 * it paid has been paid again under another nonce.
 */
async function assertNoneVanished(
  world: World,
  { network, state, next_nonce }: ForeignTransactions,
): Promise<void> {
  const open = await openForeign(world, walletIdOf(network, state.wallet))
  if (!open) return
  const shown = state.pool > next_nonce ? state.pool : next_nonce
  const gone = (await withoutSpent(world.db, open.coins)).filter(
    (coin) => !state.spent_in_pool?.includes(coin),
  )
  if (gone.length > 0)
    refuse('not_possible', {
      message: `Exception ${open.id} names ${gone.length === 1 ? 'a coin' : `${gone.length} coins`} of wallet ${state.wallet} that a transaction spent which this database does not know, and the nodes of ${network} do not show that transaction any more: ${gone.slice(0, GONE_MOST).join(', ')}. Another mempool may still have it, and what it pays would be paid again. Nothing was changed. Have it replaced or mined (docs/operate/custody.md). If it can never be mined, close the exception. Then resume the rail.`,
      details: { reason: 'foreign_transactions_wait' },
    })
  if (open.next_nonce_known <= shown) return
  const unknown = open.next_nonce_known - shown
  refuse('not_possible', {
    message: `Exception ${open.id} counts ${unknown === 1n ? '1 transaction' : `${unknown} transactions`} of wallet ${state.wallet} that the endpoints of ${network} do not show any more. Another mempool may still have them, and what they pay would be paid again. Nothing was changed. Have them replaced or mined (docs/operate/custody.md). If they can never be mined, close the exception. Then resume the rail.`,
    details: { reason: 'foreign_transactions_wait' },
  })
}

/** Nonces from `first_nonce` up to the one before `next_nonce`. */
export type NonceGap = {
  readonly wallet_id: string
  readonly first_nonce: bigint
  readonly next_nonce: bigint
}

type Accepted = { readonly reason: string; readonly proposal_id: string | null }

/** For a command that resumes a rail: the rows to lock, and what to write while they are held. */
export type ForeignNonces = {
  readonly rows: readonly RowRef[]
  /** No writes if the chain is not ahead of the database any more. */
  accept(held: Held, accepted: Accepted): { readonly writes: readonly Write[]; readonly gap?: NonceGap }
}

/**
 * Every foreign transaction must be final: until then the network may drop it, and the nonces behind it would wait for ever. And the
 * books must agree with the wallet at a block that has all of them: what they paid would be paid again otherwise.
 */
async function assertFinalAndBooked(
  world: World,
  { network, state }: { readonly network: Network; readonly state: WalletState },
  books: ChainBooks,
): Promise<void> {
  const { wallet, final, final_height, mined, pool, is_alone } = state
  const wait = (message: string) =>
    refuse('not_possible', { message, details: { reason: 'foreign_transactions_wait' } })
  // Accepted nonces are never used again: behind a nonce that one endpoint invented, no transaction of the wallet would ever be mined.
  if (is_alone)
    wait(
      `Only one endpoint of ${network} answers, and it alone tells of transactions of wallet ${wallet} that this database does not know. Nothing was changed. Wait until a second endpoint answers, and resume the rail then.`,
    )
  if (final < pool)
    wait(
      `${network} has transactions of wallet ${wallet} that this database does not know, up to nonce ${pool - 1n}, and they are not final: block ${final_height}, the newest final one, has those below nonce ${final}. Nothing was changed. Wait until they are ${mined < pool ? 'mined and ' : ''}deep enough, and resume the rail then.`,
    )
  const { id, block_height, difference } = await reconcile(world, network, books)
  if (block_height < final_height)
    wait(
      `The endpoint of ${network} that told what wallet ${wallet} holds is at block ${block_height}, behind final block ${final_height}. Nothing was changed. Wait until the endpoint has caught up, and resume the rail then.`,
    )
  if (difference === 0n) return
  const [direction, amount] = difference > 0n ? ['--in', difference] : ['--out', -difference]
  refuse('not_possible', {
    message: `${differenceInWords(network, difference)} This is reconciliation ${id}, at block ${block_height} of ${network}. Nothing was changed. Look up which transaction moved the difference, and book it, such as with: trilho custody move ${network} ${direction} --amount ${amount}. Resume the rail then (docs/operate/custody.md).`,
    details: { reason: 'books_differ' },
  })
}

/**
 * Asks the chain for the wallet's nonces, before anything is locked. Undefined for a rail without a wallet. The acceptance of foreign
 * nonces is refused if no exception named the transactions before `proposed_at`, or they are not final, or the books differ.
 */
export async function findForeignNonces(
  world: World,
  network: Network,
  { books, proposed_at }: { readonly books: ChainBooks; readonly proposed_at?: Date | undefined },
): Promise<ForeignNonces | undefined> {
  const rail = world.chains[network]
  if (!rail.has_wallet) return undefined
  const state = await rail.wallet()
  await addWallet(world.db, network, state)
  const wallet_id = walletIdOf(network, state.wallet)
  const next_nonce = await nextNonceOf(world.db, wallet_id)
  if (state.is_unclear)
    refuse('not_possible', {
      message: `The nodes of ${network} cannot tell at the moment whether a transaction that this database does not know spends coins of wallet ${state.wallet}. Nothing was changed. Resume the rail again in a minute.`,
      details: { reason: 'foreign_transactions_wait' },
    })
  await assertNoneVanished(world, { network, state, next_nonce })
  if (state.pool > next_nonce) {
    await assertLookedAt(world, { network, state, next_nonce }, proposed_at)
    await assertFinalAndBooked(world, { network, state }, books)
  }
  return {
    rows: [{ source: walletRows, id: wallet_id }],
    accept(held, { reason, proposal_id }) {
      const { next_nonce: first_nonce } = held.row(walletRows, wallet_id) ?? refuse('service_unavailable')
      if (state.pool <= first_nonce) return { writes: [] }
      const gap = { wallet_id, first_nonce, next_nonce: state.pool }
      return {
        writes: [
          writeTo(insertGaps, { ...gap, reason, proposal_id, created_at: held.now }),
          writeTo(updateWallets, { id: wallet_id, next_nonce: state.pool }),
          writeTo(closeForeignTransactions, {
            object_id: wallet_id,
            closed_at: held.now,
            closed_by: 'service',
            closed_reason: `Operators accepted nonces ${first_nonce} to ${state.pool - 1n}: ${reason}`,
          }),
        ],
        gap,
      }
    },
  }
}
