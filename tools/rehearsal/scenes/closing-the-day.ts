import { type Asset, assetNames } from '../../../src/core/money.ts'
import {
  type AuditResult,
  audit,
  checkBalances,
  checkOutside,
  openingOf,
  type RailLine,
  reconcile,
} from '../checks.ts'
import { mustEqual } from '../narrator.ts'
import { type Stage, shown } from '../stage.ts'

/** What the report shows of the end of the day. */
export type DayEnd = {
  readonly rails: readonly RailLine[]
  readonly audited: AuditResult
  readonly sheets: readonly Sheet[]
  readonly closed_exceptions: readonly { readonly kind: string; readonly object_id: string }[]
}

/** One asset: what the rails hold, and whose it is. */
export type Sheet = {
  readonly asset: Asset
  readonly on_rails: bigint
  readonly customers: bigint
  readonly partner_fees: bigint
  readonly service_fees: bigint
  readonly network_fees: bigint
  readonly treasury: bigint
  readonly operator: bigint
}

export async function closeTheDay(stage: Stage): Promise<DayEnd> {
  const { tell, checked, customers } = stage
  const closed_exceptions = await closeExceptions(stage)
  await checkBalances(stage)
  checked(
    `${customers.length} customers: in, bought, sold, out, fees and returns give the balance of the ledger, to the unit`,
  )
  const { miner_fees } = await checkOutside(stage)
  const rails = await reconcile(stage)
  checked(`trilho reconcile: ${rails.map(({ rail }) => `${rail} 0`).join(', ')}`)
  const audited = await audit(stage)
  checked(`trilho audit: ${audited.entries} entries, every check holds`)
  const { code, err } = await stage.trilho('log', 'verify')
  if (code !== 0) throw new Error(`trilho log verify exits ${code}: ${err}`)
  checked('trilho log verify: the log of what operators did is whole')
  const sheets = assetNames.map((asset) => sheetOf(stage, asset, audited, rails))
  for (const sheet of sheets) checkSheet(stage, sheet, miner_fees)
  await checkPartnerFees(stage, sheets)
  checked(
    'what the rails hold is what customers, partner, service, treasury and operator own, for each asset',
  )
  for (const { asset, on_rails, customers: owed } of sheets)
    tell(
      `${asset}: ${shown(asset, on_rails)} on the rails, of which ${shown(asset, owed)} are the customers’`,
    )
  return { rails, audited, sheets, closed_exceptions }
}

/** A returned payout is an exception that somebody must look at. There must be no other one. */
async function closeExceptions({ trilho, operators, tell }: Stage): Promise<DayEnd['closed_exceptions']> {
  const open = async (): Promise<{ id: string; kind: string; object_id: string }[]> =>
    (await trilho('exceptions', 'list')).json.data
  const found = await open()
  const other = found.filter(({ kind }) => kind !== 'payout_returned')
  if (other.length > 0) throw new Error(`exceptions are open: ${JSON.stringify(other)}`)
  for (const { id } of found) await operators.closeException(id, 'the bank shows the return')
  mustEqual('open exceptions', await open(), [])
  tell(`an operator closes ${found.length} exception of the day: the payout that came back`)
  return found.map(({ kind, object_id }) => ({ kind, object_id }))
}

/** The rails hold what the outside says; the accounts are those of the ledger. */
function sheetOf(stage: Stage, asset: Asset, { assets }: AuditResult, rails: readonly RailLine[]): Sheet {
  const sumOf = (account: string) => BigInt(assets[asset]?.[account] ?? '0')
  const of_asset = rails.filter((line) => line.asset === asset)
  const on_rails = of_asset.reduce((sum, { outside }) => sum + outside, 0n)
  const opening = openingOf(stage)
  const operator = of_asset.reduce((sum, { rail }) => sum + opening.get(rail)!, 0n)
  mustEqual(`the outside in the ledger, in ${asset}`, sumOf('external'), operator - on_rails)
  mustEqual(`${asset} in transit`, sumOf('in_transit'), 0n)
  return {
    ...{ asset, on_rails, operator },
    customers: sumOf('customer'),
    partner_fees: sumOf('partner_fees'),
    service_fees: sumOf('service_fees'),
    network_fees: sumOf('network_fees'),
    treasury: sumOf('treasury'),
  }
}

/** Each account is what the book of the rehearsal says, and all of them together are what the rails hold. */
function checkSheet({ book, customers }: Stage, sheet: Sheet, miner_fees: bigint): void {
  const { asset } = sheet
  const owed = customers.reduce((sum, { id }) => sum + book.balance(id, asset), 0n)
  const { partner, service } = book.tradeFees(asset)
  const charged = book.total(asset, 'fees')
  mustEqual(`what customers own in ${asset}`, sheet.customers, owed)
  mustEqual(`the partner’s fees in ${asset}`, sheet.partner_fees, partner)
  mustEqual(`the service’s fees in ${asset}`, sheet.service_fees, service + (asset === 'BRL' ? charged : 0n))
  mustEqual(
    `the fees of networks in ${asset}`,
    sheet.network_fees,
    asset === 'BRL' ? 0n : charged - (asset === 'BTC' ? miner_fees : 0n),
  )
  mustEqual(
    `the treasury’s ${asset}`,
    sheet.treasury,
    book.total(asset, 'sold') - partner - service - book.total(asset, 'bought'),
  )
  const { customers: of_customers, partner_fees, service_fees, network_fees, treasury, operator } = sheet
  mustEqual(
    `all owners of ${asset} together`,
    of_customers + partner_fees + service_fees + network_fees + treasury + operator,
    sheet.on_rails,
  )
}

/** The partner sees its fees over the API. */
async function checkPartnerFees({ partner, waitFor }: Stage, sheets: readonly Sheet[]): Promise<void> {
  await waitFor('the account of the partner shows its fees', async () => {
    const { partner_fees } = await partner.get('/v1/account')
    const accrued = (asset: Asset) =>
      BigInt(partner_fees.find((one: { asset: string }) => one.asset === asset)?.accrued ?? 0)
    return sheets.every((sheet) => accrued(sheet.asset) === sheet.partner_fees)
  })
}
