/**
 * What a role of the database may write although the audit does not name it, and why that is allowed (decision 0029). Each column, verb
 * and function stands here by name: one that nobody thought of makes the test fail, and so does one that is named by now.
 */
export type Allowed = Readonly<Record<string, string>>

type Line = readonly [names: string, reason: string]

/** `customers: insert delete name`: the verbs and the columns of one table. */
function listed(lines: readonly Line[]): Allowed {
  const verbs = ['insert', 'delete', 'truncate']
  return Object.fromEntries(
    lines.flatMap(([names, reason]) => {
      if (names.startsWith('call ')) return [[names, reason]]
      const [table, things] = names.split(': ') as [string, string]
      return things
        .split(' ')
        .map((thing) => [verbs.includes(thing) ? `${thing} ${table}` : `${table}.${thing}`, reason])
    }),
  )
}

const COUNTED = 'sums for pages of the console, made from events: no order reads them'
const SHOWN = 'what was said between a worker and a rail, for people: no order reads it'
const SENDING = 'when and how often a webhook is tried; that it is put off for more than two days is named'
const WHERE_TO =
  'a partner’s own setting, which its programs change without an event: data may leak, no money moves'
const PACED =
  'how many requests were counted: an intruder may slow callers down or let them hurry, no money moves'
const SIGN_IN =
  'counts of failed sign-ins and known places: more guesses at a password, and each sign-in is a line of the log'

export const allowedInWorld = listed([
  ['api_key_uses: insert api_key_id last_used_at last_used_address', 'when a key was last used, for people'],
  ['api_key_values: valid_until', 'may only end sooner (trigger): a caller is refused, no money moves'],
  ['api_keys: expires_at revoked_at', 'may only end sooner (trigger): a caller is refused, no money moves'],
  [
    'audit_progress: node position findings pieces last_pieces proved_upto edition',
    'how far the background has come: `trilho audit` reads none of it, and an audit that gets no turn is named',
  ],
  [
    'claims: insert',
    'a refusal under an idempotency key that nobody used: its caller would be refused, no money moves',
  ],
  [
    'claims: fingerprint',
    'a digest of a body that is not kept; that of a refusal and of an operator’s reference is checked',
  ],
  ['claims: claimed_at', 'for a reader; expires_at is what counts'],
  ['claims: final', 'once what was made under a claim has ended, its end is what counts'],
  ['claims: answer_sequence', 'beside a body it means nothing'],
  [
    'commits: insert delete',
    'whether a batch was committed, asked for within seconds of its COMMIT; entries and claims prove the batch',
  ],
  [
    'daily: insert partner_id day kind asset to_asset completed failed completed_sum failed_sum fee_sum times',
    COUNTED,
  ],
  [
    'hourly: insert partner_id hour kind asset to_asset completed failed completed_sum failed_sum fee_sum times',
    COUNTED,
  ],
  ['daily_balances: insert partner_id day asset available in_transit customers', COUNTED],
  ['daily_progress: position', COUNTED],
  [
    'events: insert',
    'partners make sample events of objects that do not exist; production, where nobody does, names them',
  ],
  [
    'deposits: block_height block_hash depth',
    'as the network counts, of a deposit that is not credited: what is credited is booked and told',
  ],
  ['deposits: next_attempt_at', 'when the sandbox plays its next step: only that it is within two days'],
  ['pix_charges: attempts', 'counts tries, no money'],
  ['pix_charges: next_attempt_at', 'when to look again: only that it is within two days'],
  [
    'pix_charges: expires_at',
    'can only be cut short (trigger): the charge expires sooner, and what is paid is credited all the same',
  ],
  [
    'pix_received: insert',
    'a payment that names no charge: nothing is credited for it; one that names a charge is credited only if the provider has it',
  ],
  [
    'pix_received: amount_returned',
    'what the provider says of a payment that was never credited, at most its amount: the comparison with the account differs by it',
  ],
  [
    'pix_received_scan: insert provider begun_at read_until',
    'how far the provider was read: payments may be found late, or not at all; none is credited that the provider does not have',
  ],
  ['exceptions: insert', 'one alarm more than there is reason for'],
  [
    'follow_ups: asked ask_at',
    'when a rail is asked again after a resolution; put off for more than two days is named',
  ],
  [
    'forms: insert delete',
    'that a form of the console was sent: what it did has a reference or a line of its own',
  ],
  ['money_limits: changed_at', 'when a limit was set, for a reader: the line of the log has the time'],
  ['payouts: attempts', 'counts tries, no money'],
  ['payouts: next_attempt_at', 'when to look again: only that it is within two days'],
  ['payouts: accepted_at', 'what the rail said; only before the making, or before a send, is it seen'],
  [
    'payouts: absent_at',
    'what the rail said; the rail is asked again before the money goes back, and only before the making is it seen',
  ],
  [
    'payouts: refusal',
    'what the rail said to a repeated send: believed only after a status query that finds nothing of the payout',
  ],
  [
    'pix_return_checks: insert end_to_end_id due_at tries delete',
    'which payments the provider is asked about: nothing is credited that it does not say',
  ],
  [
    'pix_return_scans: insert list began_at read_until',
    'how far the provider’s list was read: returns may be found late; none is credited that the provider does not have',
  ],
  ['proofs: insert', 'that the audit ran, for people: the next audit proves everything anew'],
  [
    'proposals: approved_at',
    'infinity reads as no time: it counts only beside approved_by, and the two are kept by a trigger',
  ],
  [
    'quotes: insert',
    'an open quote: its amounts are recomputed once it is executed, but no record of the market proves its price',
  ],
  [
    'holdings: insert rail wallet block_height block_hash asset_amount native_amount read_at',
    'read from the chain anew every 15 seconds: an order may be accepted that then waits, or refused; no money moves',
  ],
  [
    'wallet_scans: insert wallet_id height hash block_at quiet_until read_in',
    'how far a chain was read for payments from elsewhere: some may not be found, or nothing is signed for a while; no money moves',
  ],
  [
    'deposit_scans: insert network height hash final_height final_hash head_height at_head_at',
    'how far a chain was read: deposits may be found late, or not at all; none is credited that the chain does not have',
  ],
  [
    'unknown_tokens: insert delete',
    'what operators are shown of other tokens, as any endpoint tells it: nothing is credited or swept by it',
  ],
  [
    'unknown_token_scans: insert network height upto after_index',
    'how far a chain was read for other tokens: some may not be shown, no money moves',
  ],
  [
    'sweep_figures: insert network gas_account gas_wei unswept addresses read_at',
    'what pages and metrics show of deposit addresses, read anew every minute: nothing is swept by it',
  ],
  [
    'coins: block_height spent_height',
    'as the network counts: a coin may be left out or offered too early, and nodes refuse what spends it; the sum is compared with the books',
  ],
  [
    'blocks: delete',
    'a follower that lacks blocks reads them anew, or stops and pauses the rail; no money moves',
  ],
  [
    'reconciliations: insert',
    'one of many comparisons; the next one, within five minutes, is made from the chain',
  ],
  ['quotes: expires_at', 'may only end sooner (trigger): its caller asks for another quote'],
  ['requests: insert', 'the log of requests, for people'],
  ['sandbox_prices: insert id price observed_at', 'play prices, set by partners; production reads none'],
  ['sends: insert', 'a send of a payout that exists: operators wait for two days at the most'],
  ['steps: insert object_id n did at heard said last_at times', SHOWN],
  [
    'transfers: cancel_requested_at',
    'once (trigger); in production the proposal of two operators is checked. The money goes back to its customer',
  ],
  ['transfers: attempts', 'counts tries, no money'],
  ['transfers: next_attempt_at', 'when to look again: only that it is within two days'],
  [
    'webhook_answer_bytes: insert delete partner_id day bytes',
    'how much receivers answered today: an allowance, no money',
  ],
  ['webhook_attempts: insert', 'an attempt that never was, for people'],
  ['webhook_deliveries: attempts tries next_attempt_at created_at ended_at', SENDING],
  ['webhook_endpoints: insert url events description failing_since tests created_at', WHERE_TO],
  [
    'webhook_endpoints: secret secret_key_id previous_secret_key_id',
    'sealed under SECRET_KEY: another value opens nothing, so nothing is signed',
  ],
  [
    'call take_positions(bigint)',
    'leaves a gap of at most 10,000 places, a hundredth of a second: gaps are allowed',
  ],
])

export const allowedInShared = listed([
  [
    'acts_keys: secret_key_id',
    'under which key the log’s own key is sealed: the seal itself tells, and a wrong name stops a rotation',
  ],
  ['factors: seed seed_key_id', 'sealed under SECRET_KEY for one person: another value lets nobody in'],
  [
    'factors: step created_at confirmed_at',
    'which codes were used: a code may work twice; that a confirmed factor is gone is named',
  ],
  ['forms: insert delete', 'that a form of the console was sent: what it did is a line of the log'],
  [
    'links: insert delete',
    'whoever comes in by a link leaves the line use_invitation or use_reset, which names who made the link',
  ],
  ['lone_node: delete node', PACED],
  ['partners: insert', 'a partner without a key, a person and a customer: each of those is told or named'],
  [
    'proposals: approved_at',
    'infinity reads as no time: it counts only beside approved_by, and the two are kept by a constraint',
  ],
  [
    'recovery_codes: insert delete',
    'this role checks second factors, so it can pass them: the sign-in is a line of the log',
  ],
  [
    'sealing: key_id check_value since',
    'which SECRET_KEY is in force: with another value no node starts, and says so',
  ],
  [
    'sessions: delete created_at used_at address agent',
    'a session that ends sooner or later, and where it began: whose it is and who signed in is checked',
  ],
  [
    'sessions: token_hash proved_at',
    'this role opens sessions, so it can take one over: every act in it is a line that names the session',
  ],
  ['sign_in_failures: insert delete subject failed_at account', SIGN_IN],
  ['sign_in_places: insert delete subject user_id seen_at', SIGN_IN],
  [
    'users: insert',
    'a person of a partner: roles are checked once a line tells of them; an operator whom nobody made is named',
  ],
  ['users: name', 'a display name: no money depends on it'],
  [
    'users: password_hash activation_hash',
    'this role checks passwords, so it can set one: the sign-in and what follows are lines of the log',
  ],
  ['users: partner_role', 'null and viewer mean the same'],
  [
    'users: keys_shut_until',
    'the pause after a second factor was reset: the reset is a line that owners are shown',
  ],
  ['windows: insert delete subject name starts_at ends_at count', PACED],
])
