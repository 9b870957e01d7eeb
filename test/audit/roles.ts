import { randomUUID } from 'node:crypto'
import { prove } from '../../src/control/audit/proofs.ts'
import { act } from '../../src/control/operator/act.ts'
import { readKeyState } from '../../src/control/operator/changes.ts'
import { proposeIn } from '../../src/control/operator/proposals.ts'
import type { ShellActor } from '../../src/core/actor.ts'
import { type Client, openOwner, transaction } from '../../src/db/pool.ts'
import { sliceChecks } from '../../src/node/worlds.ts'
import { createKey, revokeKey, rotateKey } from '../../src/parties/keys/keys.ts'
import { listPartners } from '../../src/parties/partners/partners.ts'
import { describeUser } from '../../src/parties/team/people.ts'
import { note } from '../../src/records/acts/log.ts'
import { recordException } from '../../src/records/exceptions/store.ts'
import { openConsole, signedIn } from '../support/console.ts'
import { type History, openHistory } from '../support/history.ts'
import { openDesk, operator } from '../support/operators.ts'
import { openReceiver } from '../support/receiver.ts'
import { eventually, until } from '../support/wait.ts'

/** A database in which every table that a role may write has rows, made as the service makes them where that is possible. */
export type Populated = { readonly history: History; readonly owner: Client; stop(): Promise<void> }

const shell: ShellActor = { kind: 'shell' }

export async function openPopulated(): Promise<Populated> {
  const history = await openHistory({
    WEBHOOK_ALLOW_PRIVATE: 'true',
    AUDIT_EVERY_MS: '0',
    RAIL_TIMEOUT_MS: '500',
  })
  const receivers = [
    await openReceiver(),
    await openReceiver((_, response) => response.writeHead(503).end('no')),
  ]
  const partners = [await history.addPartner(2, 25), await history.addPartner(2, 0)]
  for (const { key } of partners)
    for (const { url } of receivers)
      await history.post(key, '/v1/webhook_endpoints', { url, events: ['*'], description: 'ours' })
  await history.fill(partners, 40)
  await payOnTron(history, partners[0]!)
  await fillByOperators(history, partners[0]!)
  await fillPeople(history, partners[0]!.partner_id)
  const owner = await openOwner(history.database.url, 'test')
  await until(async () => {
    const { rows } = await owner.query(
      `SELECT FROM sandbox.transfers WHERE network = 'tron' AND status = 'confirmed'
         AND EXISTS (SELECT FROM sandbox.webhook_deliveries WHERE status = 'delivered')`,
    )
    return rows.length > 0
  }, 20_000)
  const quote = await history.quote(partners[0]!, partners[0]!.customers[0]!, 0)
  await history.quote(partners[1]!, partners[1]!.customers[0]!, 1)
  await history.stopServer()
  await history.executeByHand(partners[0]!, quote.id, true)
  await prove(history.world, { checks: sliceChecks, by: 'usr_test' })
  await fillTheRest(owner)
  for (const receiver of receivers) await receiver.stop()
  return {
    history,
    owner,
    async stop() {
      await owner.end()
      await history.stop()
    },
  }
}

type Partner = Awaited<ReturnType<History['addPartner']>>

/** What operators do in the sandbox, with its lines in the log. */
async function fillByOperators(history: History, partner: Partner): Promise<void> {
  const { office, world } = history
  const [customer_id, other_id] = partner.customers as [string, string]
  const { partner_id } = partner
  const environment = 'sandbox'
  await office.log.begin()
  const limits = {
    payout_order: 100_000_000_000n,
    payout_day: 900_000_000_000n,
    transfer_order_btc: 5_000_000_000n,
  }
  for (const subject_id of [partner_id, customer_id])
    await act(office, shell, {
      name: 'set_money_limits',
      environment,
      details: { subject_id, change: limits },
    })
  await act(office, shell, {
    name: 'set_treasury_limits',
    environment,
    details: { asset: 'BTC', lowest: -1_000_000_000_000n, highest: 1_000_000_000_000n },
  })
  await act(office, shell, {
    name: 'set_rail_limits',
    environment,
    details: { rail: 'optimism', reason: 'new', change: { order_most: 10n ** 15n, gas_floor: 5n } },
  })
  await act(office, shell, {
    name: 'pause_rail',
    environment,
    details: { rail: 'optimism', reason: 'to try' },
  })
  await act(office, shell, {
    name: 'allow_third_party',
    environment,
    details: { customer_id, allowed: true },
  })
  await act(office, shell, { name: 'block_customer', environment, details: { customer_id: other_id } })
  const { key } = await createKey(world, {
    partner_id,
    name: 'second',
    scopes: ['read'],
    ip_allowlist: ['203.0.113.0/24'],
  })
  await rotateKey(world, key.id, 3600)
  const { key: revoked } = await createKey(world, { partner_id, name: 'third' })
  await revokeKey(world, revoked.id)
  for (const object_id of ['x_open', 'x_closed'])
    await recordException(world.db, world.clock, {
      kind: 'stuck',
      rail: 'pix',
      object_id,
      partner_id,
      details: {},
    })
  await fillDesk(history, partner)
}

/** Proposals of every end, a hold, and a resolution. */
async function fillDesk({ office, world, ...history }: History, partner: Partner): Promise<void> {
  const desk = openDesk(() => office)
  const [customer_id] = partner.customers as [string]
  const { partner_id } = partner
  const credit = (reference: string) =>
    desk.propose(
      world,
      {
        name: 'credit',
        details: { partner_id, customer_id, asset: 'BRL', amount: '77', reason: 'a gift', reference },
      },
      'ana@operator.example',
    )
  await desk.approve(world, (await credit('desk-a')).id, 'bea@operator.example')
  await desk.reject(world, (await credit('desk-b')).id, 'bea@operator.example', 'no')
  await desk.withdraw(world, (await credit('desk-c')).id, 'ana@operator.example', null)
  await credit('desk-d')
  const held = await history.payout(partner, customer_id, 'slow@sandbox.test', '100')
  const evidence = 'I asked'
  const details = { payout_id: held.id, outcome: 'failed', evidence, despite_acceptance: true } as const
  // Refused while the payout may be on its way to the network.
  await eventually(() => desk.propose(world, { name: 'resolve_payout', details }, 'ana@operator.example'))
}

async function fillPeople(history: History, partner_id: string): Promise<void> {
  const { office, shared, url } = history
  await act(office, shell, {
    name: 'create_partner',
    details: { name: 'Invited', owner: { name: 'Ivo', email: 'ivo@partner.example' } },
  })
  await act(office, shell, { name: 'change_partner', details: { partner_id, change: { tier: 'growth' } } })
  for (const partner of await listPartners(shared))
    await noteIn(history, 'shared', 'create_partner', partner.id, partner)
  const { rows: values } = await history.world.db.query(
    `SELECT api_key_id AS id, row_number() OVER (PARTITION BY api_key_id) AS n FROM api_key_values ORDER BY 1, 2`,
  )
  for (const { id, n } of values) {
    const after = await readKeyState(history.world, { key_id: id })
    await noteIn(history, 'sandbox', Number(n) === 1 ? 'create_key' : 'rotate_key', id, after)
  }
  const at = { shared, url }
  const owner = await signedIn(at, { partner_id, role: 'owner', factor: true })
  const viewer = await signedIn(at, { partner_id, role: 'viewer' })
  const admin = await signedIn(at, { role: 'admin', factor: true })
  for (const { person } of [owner, viewer, admin]) {
    await noteIn(history, 'shared', 'create_user', person.user.id, describeUser(person.user))
    if (person !== viewer.person) await noteIn(history, 'shared', 'confirm_factor', person.user.id, null)
  }
  const { email } = viewer.person.user
  await proposeInShared(history, { name: 'set_role', details: { email, role: 'finance' } })
  await openConsole(url).signIn(owner.person.user.email, `not ${randomUUID()}`)
}

/** The line that the act itself would have written: test support makes partners, keys and people without it. */
async function noteIn(
  { office }: History,
  place: 'shared' | 'sandbox',
  action: Parameters<typeof note>[2]['action'],
  object_id: string,
  after: unknown,
) {
  const pen = await office.log.pen(place, shell)
  await transaction(office.log.pools[place], (tx) =>
    note(tx, pen, { action, object_id, before: null, after }),
  )
}

/** A draft belongs to a transfer on Tron. */
function payOnTron({ post }: History, { key, customers }: Partner) {
  return post(key, '/v1/onchain/transfers', {
    customer_id: customers[0],
    asset: 'USDT',
    network: 'tron',
    amount: '1000000',
    destination_address: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
    idempotency_key: randomUUID(),
  })
}

async function proposeInShared({ office, shared }: History, action: Parameters<typeof proposeIn>[2]) {
  const actor = operator('ana@operator.example')
  const pen = { ...(await office.log.pen('shared', actor)), actor }
  return transaction(shared.db, (tx) => proposeIn(tx, shared, action, pen))
}

/** Rows that nothing above makes: a payout that was sent twice, one that an operator resolved, marks of the console. */
async function fillTheRest(owner: Client): Promise<void> {
  const sent = `SELECT id FROM payouts WHERE status = 'completed' AND accepted_at IS NULL ORDER BY id LIMIT 1`
  const resolved = `SELECT id FROM payouts WHERE status = 'completed' ORDER BY id DESC LIMIT 1`
  await owner.query(
    `SET search_path = sandbox;
     INSERT INTO sends SELECT id, 2, created_at, completed_at + interval '5 seconds' FROM payouts WHERE id = (${sent});
     INSERT INTO resolutions SELECT id, status, 'I asked', NULL, 'shell', completed_at FROM payouts WHERE id = (${resolved});
     INSERT INTO follow_ups SELECT resource_id, 'payout', 1, now() + interval '1 hour' FROM resolutions;
     INSERT INTO sandbox_prices (id, price) VALUES ('par_x BTC-BRL', 1000);
     UPDATE exceptions SET closed_at = now(), closed_by = 'shell', closed_reason = 'seen' WHERE object_id = 'x_closed';
     INSERT INTO forms (user_id, id, object_id) VALUES ('usr_x', 'form', 'prp_x');
     INSERT INTO wallet_gaps SELECT id, next_nonce, next_nonce + 3, 'a test', NULL, now() FROM wallets;
     UPDATE wallets SET next_nonce = next_nonce + 3;
     INSERT INTO blocks SELECT 'bitcoin', n, encode(sha256(n::text::bytea), 'hex'), encode(sha256((n - 1)::text::bytea), 'hex'), true FROM generate_series(100, 102) AS n;
     INSERT INTO coins SELECT encode(sha256('coin'), 'hex') || ':0', 'bitcoin', id, '0014aa', 5, false, NULL, 100, encode(sha256('100'), 'hex'),
       NULL, encode(sha256('foreign'), 'hex'), 101 FROM wallets WHERE network = 'bitcoin';
     INSERT INTO foreign_spends SELECT wallet_id, spent_by, spent_height, now() FROM coins;
     INSERT INTO holdings VALUES ('polygon', '0xw', 10, '0xb', 500, 7, now());
     INSERT INTO pix_received_scan VALUES ('simulated', now(), now());
     INSERT INTO drafts SELECT id, 1, encode(sha256('draft'), 'hex'), encode('draft', 'hex'),
       jsonb_build_object('expiration', floor(extract(epoch FROM created_at) * 1000)::bigint::text), created_at FROM transfers WHERE network = 'tron';
     INSERT INTO wallet_scans VALUES ('tron:Tw', 12, 'h', now(), NULL, '1 00000001');
     INSERT INTO deposit_scans VALUES ('polygon', 12, '0xh', 10, '0xf', 13, now());
     INSERT INTO sweeps SELECT 'swp_x', network, address, address_index, 1000, '0xwallet', '0xgas', 900, 3, 500, 3, 'mined', NULL, now() - interval '1 hour', NULL
       FROM deposit_addresses WHERE network IN ('polygon', 'arbitrum', 'optimism', 'ethereum') ORDER BY address, network LIMIT 1;
     INSERT INTO sweep_transactions SELECT s.id, p.purpose, 1, s.network, CASE p.purpose WHEN 'fund' THEN s.gas_account ELSE s.address END, s.nonce,
       '0x' || encode(sha256(p.purpose::bytea), 'hex'), '0x02aa', '{}', s.created_at, 7, '0xblock', 21000
       FROM sweeps s CROSS JOIN (VALUES ('fund'), ('sweep')) AS p (purpose);
     UPDATE sweeps SET state = 'swept', ended_at = now();
     INSERT INTO unknown_tokens VALUES ('polygon', '0xtoken', '0xhash', 0, '0xaddress', 1, 10, now());
     INSERT INTO unknown_token_scans VALUES ('polygon', 10, 20, 3);
     INSERT INTO sweep_figures VALUES ('polygon', '0xgas', 7, 1000, 1, now());
     INSERT INTO pix_return_checks SELECT end_to_end_id, now(), 1 FROM end_to_end_ids ORDER BY 1 LIMIT 1;
     INSERT INTO pix_return_scans VALUES ('sent', now(), now());
     INSERT INTO reconciliations VALUES ('rec_x', 'polygon', 'USDT', '0xw', 10, '0xb', 500, 500, 0, 0, '{}', now());
     SET search_path = shared;
     INSERT INTO forms (user_id, id, object_id) VALUES ('usr_x', 'form', 'usr_y');
     INSERT INTO lone_node (node) VALUES ('node') ON CONFLICT DO NOTHING;
     INSERT INTO windows VALUES ('key_x', 'minute', now(), now() + interval '1 minute', 3);
     RESET search_path`,
  )
}
