/**
 * What each role may do, table by table. History is only ever added to: no role of the application can change or remove
 * an entry, an event, a deposit. What is old and owed to nobody goes through functions of the owner.
 */
export const worldGrants: Record<string, string> = {
  migrations: 'SELECT',
  functions: 'SELECT',
  api_keys: 'SELECT, INSERT, UPDATE',
  api_key_values: 'SELECT, INSERT, UPDATE',
  api_key_uses: 'SELECT, INSERT, UPDATE',
  customers: 'SELECT, INSERT, UPDATE',
  commits: 'SELECT, INSERT, DELETE',
  balances: 'SELECT, INSERT, UPDATE',
  entries: 'SELECT, INSERT',
  claims: 'SELECT, INSERT, UPDATE, DELETE',
  deposits: 'SELECT, INSERT',
  adjustments: 'SELECT, INSERT',
  proposals: 'SELECT, INSERT, UPDATE',
  acts: 'SELECT, INSERT',
  acts_head: 'SELECT, UPDATE',
  money_limits: 'SELECT, INSERT, UPDATE',
  exceptions: 'SELECT, INSERT, UPDATE',
  payouts: 'SELECT, INSERT, UPDATE',
  sends: 'SELECT, INSERT',
  transfers: 'SELECT, INSERT, UPDATE',
  holds: 'SELECT, INSERT, DELETE',
  resolutions: 'SELECT, INSERT',
  follow_ups: 'SELECT, INSERT, UPDATE',
  quotes: 'SELECT, INSERT, UPDATE',
  trades: 'SELECT, INSERT',
  positions: 'SELECT, INSERT, UPDATE',
  unfolded: 'SELECT, INSERT, DELETE',
  folds: 'SELECT',
  fold_base: 'SELECT',
  fold_start: 'SELECT',
  treasury_limits: 'SELECT, INSERT, UPDATE, DELETE',
  fee_payouts: 'SELECT, INSERT',
  sandbox_prices: 'SELECT, INSERT, UPDATE',
  forgotten: 'SELECT',
  audit_progress: 'SELECT, UPDATE',
  events: 'SELECT, INSERT',
  event_positions: 'SELECT, INSERT',
  fresh_events: 'SELECT, DELETE',
  event_horizon: 'SELECT',
  webhook_endpoints: 'SELECT, INSERT, UPDATE',
  webhook_deliveries: 'SELECT, INSERT, UPDATE',
  webhook_attempts: 'SELECT, INSERT',
  webhook_answer_bytes: 'SELECT, INSERT, UPDATE, DELETE',
  requests: 'SELECT, INSERT',
}

/** What a world may see of the tenants. */
export const worldGrantsOnShared: Record<string, string> = {
  partners: 'SELECT',
  sealing: 'SELECT',
}

export const sharedGrants: Record<string, string> = {
  migrations: 'SELECT',
  functions: 'SELECT',
  partners: 'SELECT, INSERT, UPDATE',
  users: 'SELECT, INSERT, UPDATE',
  sessions: 'SELECT, INSERT, UPDATE, DELETE',
  factors: 'SELECT, INSERT, UPDATE, DELETE',
  recovery_codes: 'SELECT, INSERT, DELETE',
  sign_in_failures: 'SELECT, INSERT, UPDATE, DELETE',
  windows: 'SELECT, INSERT, UPDATE, DELETE',
  sealing: 'SELECT, INSERT, UPDATE',
  proposals: 'SELECT, INSERT, UPDATE',
  acts: 'SELECT, INSERT',
  acts_head: 'SELECT, UPDATE',
  acts_keys: 'SELECT, INSERT, UPDATE',
}

/** What a world may call. Functions of triggers are called by nobody. */
export const worldFunctions: readonly string[] = [
  'expect_rows(text, bigint, bigint)',
  'wants_event(text[], text)',
  'dispatch_fresh_events(integer)',
  'forget_deliveries(timestamptz, integer)',
  'forget_events(timestamptz, bigint, integer)',
  'forget_claims(timestamptz, integer)',
  'forget_quotes(timestamptz, integer)',
  'forget_requests(text, integer)',
  'trim_attempts(text[], text[])',
]

export const sharedFunctions: readonly string[] = []
