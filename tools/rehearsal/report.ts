import { cpus } from 'node:os'
import { type Column, columns } from './book.ts'
import type { Narrator, PlayedScene } from './narrator.ts'
import { depositNetworks, transferNetworks } from './outside.ts'
import { parts } from './parts.ts'
import type { DayEnd, Sheet } from './scenes/closing-the-day.ts'
import { type Stage, shown } from './stage.ts'

/** The page docs/proof/rehearsal.md. */
export function renderReport(stage: Stage, narrator: Narrator, end: DayEnd, is_short: boolean): string {
  const date = new Date().toISOString().slice(0, 10)
  return `# A day of a fintech

**Passed: ${narrator.scenes.length} scenes${is_short ? ' at the small size' : ''}** on ${date}, in ${narrator.seconds()} seconds, with Node ${process.versions.node} on ${cpus().length} cores.

\`npm run rehearsal\` plays the day and writes this page; \`REHEARSAL=short\` plays a smaller one. It stops at the first figure that is wrong.
Expected balances are added up from what the rehearsal did and saw at the bank and on the chains, and from terms that the API promised: what a trade pays
out, and the fee of a transfer. No balance is read from the ledger to expect it.

## What is real

${table(
  ['Part', 'Is', 'What it is'],
  parts.map(({ part, is, about }) => [part, is, about]),
)}

## Scenes

${table(['Scene', 'What happened', 'What was checked', 'Seconds'], narrator.scenes.map(sceneRow))}

## Figures

${figuresOf(stage, end)
  .map((figure) => `- ${figure}`)
  .join('\n')}

## Rails: outside and books

Outside is what the bank's account, the token contracts, the stub of Tron and the unspent outputs say; booked is what \`trilho reconcile\` reads from the ledger.

${table(['Rail', 'Asset', 'Outside', 'Booked', 'Difference'], end.rails.map(railRow))}

## Customers: every balance explained

Paid in + bought − sold − paid out − fees + came back − given back = balance. *Sold* has the fees of the conversion in it: ${feesOf(stage)}.

${table(['Customer', 'Asset', ...columns, 'Balance in the ledger'], customerRows(stage))}

## Whose the money on the rails is

Customers + partner + service + network fees + treasury + operator = on the rails. The treasury is the operator's side of the conversions, and
may be negative: it owes what customers bought, out of the operator's own funds. Network fees are what transfers cost customers, less what miners
took.

${table(
  ['Asset', 'Customers', 'Partner', 'Service', 'Network fees', 'Treasury', 'Operator', 'On the rails'],
  end.sheets.map(sheetRow),
)}

## What the rehearsal does not show

Tron, Efí and the exchanges are stubs that answer as their documentation describes; no bank, no public network and no other miner was asked. All
processes ran on one machine, and the rehearsal itself promoted the standby. Chains mined a block every half second to second and a half, so nobody
waited for hours. The backup was restored at a moment after which nothing had been paid out; where something was, the rails pause until two
operators have [resolved it](../operate/custody.md#a-restored-database), and other tests play that. Each fault was played once or a few times,
at a moment that the script chose: killed processes at every step, and faults of every kind, are in [deposits](deposits.md), [EVM](evm.md),
[Bitcoin](bitcoin.md) and [fail-over](fail-over.md). The signer ran as the same user of the same machine, and over a socket: in production it is
another user or another machine, over TLS ([the signer](../operate/signer.md)). Tron is a stub: no node of Tron comes as a package. After the
fail-over nothing is signed there for eleven minutes ([why](../decisions/0071-tron.md)), which is longer than the day, so that nothing was paid on
Tron after the backup was restored.
`
}

const cell = (text: string): string => text.replaceAll('|', '\\|')
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n')

const sceneRow = ({ title, told, checked, seconds }: PlayedScene) => [
  title,
  told.join('; '),
  checked.join('; '),
  `${seconds}`,
]

function figuresOf(
  { counts, partner, customers, book }: Stage,
  { audited, closed_exceptions, rails }: DayEnd,
): string[] {
  const { cut, unavailable } = partner.trouble
  return [
    `${customers.length} customers; ${counts.charges} Pix charges paid in ${counts.pix_payments} payments; ${counts.deposits} deposits on ${depositNetworks.length} chains; ${counts.sweeps} sweeps.`,
    `${counts.conversions} conversions; ${counts.payouts} Pix payouts paid and ${counts.refused_payouts} refused; ${counts.transfers} transfers on ${transferNetworks.length} chains.`,
    `${partner.counted.orders} orders, repeated ${partner.counted.repeated} times with the same idempotency key: each time the same answer to the byte. ${cut} calls were cut and ${unavailable} answered with 503, and repeated.`,
    `Fail-over: the first order was answered ${counts.fail_over_ms} ms after the promotion of the standby.`,
    `Reorganisations: 1 deposit dropped and credited later, ${counts.dropped} dropped for good. Returns: ${counts.returns}.`,
    `Signer: ${counts.waited_for_signer} transfers waited for it, and each was paid once. Its log has ${counts.signatures} signatures; ${counts.signed_and_mined} are the transactions on the chains that spend what its keys hold, and no other transaction does. ${counts.searched_mb} MB of the services’ and the databases’ files have none of its keys.`,
    `In: ${shown('BRL', book.total('BRL', 'paid in'))} BRL, ${shown('USDT', book.total('USDT', 'paid in'))} USDT, ${shown('BTC', book.total('BTC', 'paid in'))} BTC. Out: ${shown('BRL', book.total('BRL', 'paid out'))} BRL, ${shown('USDT', book.total('USDT', 'paid out'))} USDT, ${shown('BTC', book.total('BTC', 'paid out'))} BTC.`,
    `\`trilho audit\`: ${audited.entries} entries, every check holds. \`trilho reconcile\`: difference 0 on ${rails.length} rails. \`trilho log verify\`: whole. Exceptions: ${closed_exceptions.length}, the payout that came back, which an operator closed.`,
  ]
}

const railRow = ({ rail, asset, outside, booked, difference }: DayEnd['rails'][number]) => [
  rail,
  asset,
  shown(asset, outside),
  shown(asset, booked),
  `${difference}`,
]

const feesOf = ({ book }: Stage): string =>
  (['BRL', 'USDT', 'BTC'] as const)
    .map((asset) => {
      const { partner, service } = book.tradeFees(asset)
      return `${asset} partner ${shown(asset, partner)}, service ${shown(asset, service)}`
    })
    .join('; ')

const customerRows = ({ customers, book }: Stage): string[][] =>
  customers.flatMap(({ id, name }) =>
    book
      .assetsOf(id)
      .map((asset) => [
        name,
        asset,
        ...columns.map((column: Column) => shown(asset, book.sum(id, asset, column))),
        shown(asset, book.balance(id, asset)),
      ]),
  )

const sheetRow = (sheet: Sheet): string[] => [
  sheet.asset,
  ...(
    ['customers', 'partner_fees', 'service_fees', 'network_fees', 'treasury', 'operator', 'on_rails'] as const
  ).map((account) => signed(sheet, sheet[account])),
]

/** Accounts of the service may be negative; money is not. */
const signed = ({ asset }: Sheet, units: bigint): string =>
  units < 0n ? `−${shown(asset, -units)}` : shown(asset, units)
