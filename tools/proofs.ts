/** The proofs that `npm run prove` can run. */
export type Proof = {
  readonly name: string
  readonly title: string
  readonly suites: readonly string[]
  /** Files and folders below `suites` that belong to another proof: a figure stands on one page only. */
  readonly except?: readonly string[]
  /** The tests compare times, hold a time to a bound, or count what one server does in a given time: no other proof runs beside this one. */
  readonly is_alone?: true
  /** A conclusion that the proof does not support. */
  readonly limits: string
}

const depositSuites = [
  'test/chains/bitcoin-deposits.test.ts',
  'test/chains/deposits-chaos.test.ts',
  'test/chains/deposits.test.ts',
]

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
    except: [
      ...depositSuites,
      'test/chains/bitcoin-chaos.test.ts',
      'test/chains/bitcoin-node.test.ts',
      'test/chains/bitcoin-production.test.ts',
      'src/rails/chain/bitcoin',
      'src/rails/chain/bitcoin.test.ts',
      'src/rails/signer/bitcoin.test.ts',
    ],
    limits: `The chains are anvil, a real EVM node with a chain of its own: no network with other miners, no geth, and no public
provider was used. All three endpoints of a chain are in front of one node. The token is a test token with the behaviour of USDT
that can harm: no return value, pause, black list, fee. The service keeps one wallet per network; two wallets were not tried.`,
  },
  {
    name: 'deposits',
    title: 'Deposits on EVM networks and on Bitcoin',
    suites: [...depositSuites, 'src/money/deposits/deposits.test.ts'],
    limits: `The chains are two of anvil and one of a node of Bitcoin Core's lineage, which may be Litecoin's: no network with other miners, and
no public provider was used. All three endpoints of a chain are in front of one node, and one of them at a time failed or lied: two that
tell the same lie have a deposit credited. Reorganisations were at most 6 blocks deep. That is less than what credits on EVM networks, and more
than the 2 blocks that credit on Bitcoin: there each credited deposit came back in another block. One that does not is an exception for
operators, and a loss.`,
  },
  {
    name: 'bitcoin',
    title: 'Transfers on Bitcoin',
    suites: [
      'test/chains/bitcoin-chaos.test.ts',
      'test/chains/bitcoin-node.test.ts',
      'test/chains/bitcoin-production.test.ts',
      'src/money/onchain/coins',
      'src/rails/chain/bitcoin',
      'src/rails/chain/bitcoin.test.ts',
      'src/rails/signer/bitcoin.test.ts',
    ],
    limits: `The chain is a regtest chain of its own, on the program that the figures name: no other miners, no public network, and
fees that a stranger of the test raised. If the program is litecoind, Bitcoin Core itself was not tried; calls, scripts and
transactions are the same. Both nodes ran on one machine, and the test carried blocks and transactions between them. Nodes prune whole
files of blocks, for which the chain is too short: an endpoint answered as a pruned node does. All deep reorganisations returned their
payments to a mempool; a payment that another transaction replaces for good after it was confirmed is in the tests of the coins, where
operators resolve it. Nobody waited for half an hour until a payment counts as stuck, nor for the pauses between two questions: the
test changed these times in the database. An endpoint that calls coins spent was left out, because it pauses the rail by design.`,
  },
  {
    name: 'pix',
    title: 'Pix payouts and charges over Efí',
    suites: ['test/pix', 'src/rails/pix', 'src/money/charges/kills.test.ts'],
    limits: `Efí is a stub that answers as its documentation describes; no bank and no sandbox of Efí was used. What the documentation does not
show, such as the time until a status query finds a payment, the stub assumes. Nobody ordered under another account while the run went on,
and nobody changed the credentials. Payouts that fail because they could not be handed over for ten minutes are in the tests of the
slices. At its small size the run does not wait for the pauses between two questions: it changes these times in the database.`,
  },
  {
    name: 'memory',
    is_alone: true,
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
    name: 'prices',
    title: 'Prices of exchanges',
    suites: ['src/rails/prices', 'src/money/quotes/exchange-prices.test.ts'],
    limits: `The exchanges are a stub that answers as their documentation describes; no live exchange was asked. Two exchanges that lie together
are not noticed, except by the jump of the price. The random sequences of the guards run without HTTP, the random misdeeds with it.`,
  },
  {
    name: 'fairness',
    is_alone: true,
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
    is_alone: true,
    title: 'Fail-over',
    suites: ['test/cluster'],
    limits: `All servers ran on one machine, and the test promoted the standby. The time that Patroni, a cloud or a person takes to
decide comes on top. The restarts went through HAProxy with the configuration in deploy/. A balancer that takes longer than
DRAIN_MS to notice a stopping node loses requests.`,
  },
]
