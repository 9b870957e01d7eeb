/** The proofs that `npm run prove` can run. */
export type Proof = {
  readonly name: string
  readonly title: string
  readonly suites: readonly string[]
  /** Suites below `suites` that belong to another proof: a figure stands on one page only. */
  readonly except?: readonly string[]
  /** A conclusion that the proof does not support. */
  readonly limits: string
}

export const proofs: readonly Proof[] = [
  {
    name: 'exactly-once',
    title: 'Exactly once',
    suites: [
      'test/chaos',
      'test/webhooks/addresses.test.ts',
      'test/retention.test.ts',
      'test/examples/shop.test.ts',
      'test/examples/treasury.test.ts',
      'src/ledger',
      'src/control/operator/proposals.test.ts',
      'src/money/adjustments',
      'src/money/money-limits',
      'sdk/test/retries.test.ts',
    ],
    except: ['test/chaos/webhook-receivers.test.ts'],
    limits: `The rails are the simulated rails of the sandbox. They lose, delay and refuse orders, but no bank and no blockchain is
behind them. The tests killed processes and cut connections; they did not cut the power. Receivers that do not answer are in
[fairness](fairness.md).`,
  },
  {
    name: 'evm',
    title: 'Transfers on EVM networks',
    suites: ['test/chains', 'src/rails/chain', 'src/rails/signer'],
    limits: `The chains are anvil, a real EVM node with a chain of its own: no network with other miners, no geth, and no public
provider was used. All three endpoints of a chain are in front of one node. The token is a test token with the behaviour of USDT
that can harm: no return value, pause, black list, fee. The service keeps one wallet per network; two wallets were not tried.`,
  },
  {
    name: 'memory',
    title: 'Memory under mixed load',
    suites: ['test/mixed-load.test.ts'],
    limits: `The run takes ten minutes. The ledger renews its connections every thirty minutes, so the run does not include a
renewal. The memory after a load of payouts alone is in the [benchmarks](../benchmarks.md).`,
  },
  {
    name: 'audit',
    title: 'The audit finds corrupted rows',
    suites: ['test/audit'],
    limits: `The owner of the database can change a resource together with all its entries, events and balances, so that the new
history is consistent. No sum can detect that.`,
  },
  {
    name: 'fairness',
    title: 'One partner does not slow down another',
    suites: ['test/fairness.test.ts', 'test/chaos/webhook-receivers.test.ts'],
    limits: `The server, the database, the attacker and the receivers shared the cores of one machine. The attacker ran with the
lowest priority, as if it ran elsewhere. A flood that fills the network link must be stopped in front of the machine.`,
  },
  {
    name: 'lists',
    title: 'A page of a list reads few rows',
    suites: ['test/lists'],
    limits: `A list with three or more filters uses the same code as one with two; not all combinations were tried. The tests count
rows and blocks, not time on a slow disk. Times are in the [benchmarks](../benchmarks.md).`,
  },
  {
    name: 'walls',
    title: 'Invalid requests and missing rights',
    suites: [
      'test/http/fuzz.test.ts',
      'test/http/scopes.test.ts',
      'test/patterns.test.ts',
      'test/walls.test.ts',
    ],
    limits: `The fuzzer makes its requests from openapi.json and from a list of mutations; it sends nothing else. It judges each
response alone, not the effect of several calls together.`,
  },
  {
    name: 'console',
    title: 'The console',
    suites: ['test/browser', 'test/console', 'src/doors/console-api', 'src/parties/team'],
    limits: `The tests used one browser, Chromium, without a screen reader. axe finds only what its rules describe. No new user was
observed.`,
  },
  {
    name: 'backup',
    title: 'Backups and copies to another database',
    suites: ['src/node/backup', 'src/node/database-copy'],
    limits: `Everything ran on one machine and one disk, with a small database. The rails are simulated. A backup does not contain
what a bank paid after the backup was taken.`,
  },
  {
    name: 'first-hour',
    title: 'Quickstart, docs and examples',
    suites: [
      'test/quickstart.test.ts',
      'test/docs',
      'test/examples',
      'test/browser/docs.test.ts',
      'src/doors/reference/docs.test.ts',
      'sdk/test',
    ],
    limits: `The packages were on the machine already, and no new user was observed. A test in a language that the machine lacks is
skipped, and listed above. Postman and the editors that read .http files did not run: the tests sent the requests of their files
in order.`,
  },
  {
    name: 'fail-over',
    title: 'Fail-over',
    suites: ['test/cluster'],
    limits: `All servers ran on one machine, and the test promoted the standby. The time that Patroni, a cloud or a person takes to
decide comes on top. The restarts went through HAProxy with the configuration in deploy/. A balancer that takes longer than
DRAIN_MS to notice a stopping node loses requests.`,
  },
]
