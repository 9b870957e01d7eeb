import type { Check } from '../../../ledger/audit.ts'

/** SQL: when a transaction can no longer be mined; null where transactions do not expire, as in the sandbox. */
const expiryOf = (transaction: string) =>
  `CASE WHEN ${transaction}.terms ->> 'expiration' ~ '^[0-9]{1,15}$' THEN to_timestamp((${transaction}.terms ->> 'expiration')::numeric / 1000) END`

export const tronChecks: readonly Check[] = [
  {
    name: 'no payment on tron was signed, and no money given back, while an earlier payment of the transfer could still be mined',
    walk: 'causes',
    prefix: 'tr',
    sql: (
      within,
    ) => `SELECT t.id AS object_id, t.partner_id, t.status, x.attempt, ${expiryOf('x')} AS expires_at FROM transfers t
      JOIN transactions x ON x.transfer_id = t.id
      WHERE ${within('t.id')} AND t.network = 'tron' AND t.wallet_id <> 'tron:simulated' AND (x.purpose <> 'pay' OR ${expiryOf('x')} IS NULL
        OR EXISTS (SELECT FROM transactions o WHERE o.transfer_id = x.transfer_id AND o.attempt > x.attempt AND o.created_at <= ${expiryOf('x')})
        OR (t.failure_code = 'canceled' AND t.completed_at <= ${expiryOf('x')}))`,
  },
  {
    name: 'every draft on tron belongs to a transfer that has reserved, and is what the service drafts',
    walk: 'causes',
    prefix: 'tr',
    // The signer accepts no bytes that expire later than in ten and a half minutes; an hour leaves room for clocks that differ. The hash
    // must be that of the bytes, because a wrong one would hide another payment.
    sql: (
      within,
    ) => `SELECT d.transfer_id AS object_id, t.partner_id, t.status, d.number, d.tx_hash FROM drafts d LEFT JOIN transfers t ON t.id = d.transfer_id
      WHERE ${within('d.transfer_id')} AND (t.id IS NULL OR t.network <> 'tron' OR t.nonce IS NULL
        OR d.tx_hash <> encode(sha256(decode(d.unsigned, 'hex')), 'hex')
        OR (d.number > 1 AND NOT EXISTS (SELECT FROM drafts o WHERE o.transfer_id = d.transfer_id AND o.number = d.number - 1))
        OR ${expiryOf('d')} IS NULL OR ${expiryOf('d')} > d.created_at + interval '1 hour')`,
  },
  {
    name: 'every foreign transaction that pays from the wallet on tron is none of the service',
    walk: 'causes',
    sql: (
      within,
    ) => `SELECT f.txid AS object_id, f.wallet_id, f.height, x.transfer_id FROM foreign_spends f JOIN wallets w ON w.id = f.wallet_id
      JOIN transactions x ON x.network = w.network AND x.tx_hash = f.txid WHERE ${within(`'wallets'`)} AND w.network = 'tron'`,
  },
]
