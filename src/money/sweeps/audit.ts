import { networkNames, networks } from '../../core/networks.ts'
import type { Check } from '../../ledger/audit.ts'

const EVM = networkNames
  .filter((name) => networks[name].kind === 'evm')
  .map((name) => `'${name}'`)
  .join(', ')

/** SQL: how many transactions of a purpose a sweep has, and whether one of them is in a block. */
const made = (purpose: string) =>
  `(SELECT count(*) FROM sweep_transactions t WHERE t.sweep_id = s.id AND t.purpose = '${purpose}')`
const minedOf = (purpose: string) =>
  `(SELECT count(*) FROM sweep_transactions t WHERE t.sweep_id = s.id AND t.purpose = '${purpose}' AND t.block_hash IS NOT NULL)`

/** A sweep that is in the chain, with or without effect. */
const IN_CHAIN = `(s.state = 'swept' OR s.failure IN ('reverted', 'other_effect'))`

export const sweepChecks: readonly Check[] = [
  {
    name: 'every sweep is of a deposit address, in a state that can be, and one that is in the chain has exactly one block',
    walk: 'causes',
    prefix: 'swp',
    sql: (within) => `SELECT s.id AS object_id, s.network, s.address, s.state, s.failure FROM sweeps s
      LEFT JOIN deposit_addresses a ON a.network = s.network AND a.address = s.address
      WHERE ${within('s.id')} AND (a.address_index IS DISTINCT FROM s.address_index OR s.network NOT IN (${EVM}) OR s.amount <= 0
        OR s.wallet IN (s.address, s.gas_account) OR s.gas_account = s.address OR s.cost_most < 0
        OR s.state NOT IN ('funding', 'sweeping', 'mined', 'swept', 'failed') OR s.ended_at < s.created_at
        OR (s.state IN ('swept', 'failed')) <> (s.ended_at IS NOT NULL) OR (s.state = 'failed') <> (s.failure IS NOT NULL)
        OR s.failure NOT IN ('token_reverts', 'reverted', 'other_effect', 'nonce_taken', 'too_dear')
        OR (s.fund_nonce IS NULL) <> (s.fund_wei IS NULL) OR s.fund_wei <= 0 OR s.fund_wei > s.cost_most
        OR (s.fund_nonce IS NULL AND ${made('fund')} > 0) OR (s.nonce IS NULL AND ${made('sweep')} > 0)
        OR (s.fund_nonce IS NOT NULL AND s.nonce IS NOT NULL AND ${minedOf('fund')} <> 1)
        OR ${minedOf('fund')} > 1 OR (s.state IN ('mined', 'swept') AND ${made('sweep')} = 0)
        OR (s.nonce IS NULL AND (s.state IN ('sweeping', 'mined', 'swept')))
        OR ${minedOf('sweep')} <> CASE WHEN ${IN_CHAIN} THEN 1 ELSE 0 END)`,
  },
  {
    name: 'all transactions of a sweep that have one purpose spend the nonce that was reserved for it, no two are the same, and their attempts have no gap',
    walk: 'causes',
    prefix: 'swp',
    sql: (
      within,
    ) => `SELECT t.sweep_id AS object_id, t.purpose, t.attempt, t.tx_hash, t.sender, t.nonce FROM sweep_transactions t
      LEFT JOIN sweeps s ON s.id = t.sweep_id
      WHERE ${within('t.sweep_id')} AND (s.id IS NULL OR t.network <> s.network OR t.purpose NOT IN ('fund', 'sweep')
        OR t.created_at < s.created_at OR t.created_at > s.ended_at OR t.tx_hash !~ '^0x[0-9a-f]{64}$' OR t.signed !~ '^0x02([0-9a-f]{2})+$'
        OR (t.sender, t.nonce) IS DISTINCT FROM
          (CASE t.purpose WHEN 'fund' THEN s.gas_account ELSE s.address END, CASE t.purpose WHEN 'fund' THEN s.fund_nonce ELSE s.nonce END)
        OR (t.block_height IS NULL) <> (t.block_hash IS NULL) OR (t.block_hash IS NULL AND t.gas_paid_wei IS NOT NULL)
        OR EXISTS (SELECT FROM sweep_transactions o WHERE o.network = t.network AND o.tx_hash = t.tx_hash
          AND (o.sweep_id, o.purpose, o.attempt) <> (t.sweep_id, t.purpose, t.attempt))
        OR t.attempt < 1 OR (t.attempt > 1 AND NOT EXISTS (SELECT FROM sweep_transactions b
          WHERE b.sweep_id = t.sweep_id AND b.purpose = t.purpose AND b.attempt = t.attempt - 1)))`,
  },
  {
    name: 'no address is swept twice at a time, and no nonce of the gas account is given to two sweeps',
    walk: 'causes',
    prefix: 'swp',
    sql: (within) => `SELECT s.id AS object_id, o.id AS other_id, s.network, s.address FROM sweeps s
      JOIN sweeps o ON o.network = s.network AND o.id <> s.id
        AND ((o.address = s.address AND o.created_at <= s.created_at AND (o.ended_at IS NULL OR o.ended_at > s.created_at))
          OR (o.gas_account = s.gas_account AND o.fund_nonce = s.fund_nonce))
      WHERE ${within('s.id')}`,
  },
]
