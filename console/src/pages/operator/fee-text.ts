import type { Language } from '../../format/amount.ts'
import type { Texts } from '../../text/en/en.ts'

type Words = Texts['operator']['desk']['transactions']

const figure = (value: number, language: Language): string =>
  new Intl.NumberFormat(language, { maximumSignificantDigits: 4 }).format(value)

/** The coin that pays for gas. */
const coins: Readonly<Record<string, string>> = { polygon: 'POL', tron: 'TRX' }
const coinOf = (rail: string): string => coins[rail] ?? 'ETH'
/** Smallest units of that coin. */
const unitsOf = (rail: string): number => (rail === 'tron' ? 1e6 : 1e18)

/** What the network charged for a mined transaction; undefined if no node told it. */
export const gasPaidText = (
  gas_paid_wei: string | null,
  { rail, words, language }: { readonly rail: string; readonly words: Words; readonly language: Language },
): string | undefined =>
  gas_paid_wei === null
    ? undefined
    : words.gas_paid(`${figure(Number(gas_paid_wei) / unitsOf(rail), language)} ${coinOf(rail)}`)

/** What a transaction offers its network, in words. Terms of a network that is not known here are shown as they are stored. */
export function feeText(
  terms: Readonly<Record<string, string>>,
  { rail, words, language }: { readonly rail: string; readonly words: Words; readonly language: Language },
): string {
  const { max_fee_per_gas, max_priority_fee_per_gas, gas_limit } = terms
  if (max_fee_per_gas !== undefined && max_priority_fee_per_gas !== undefined && gas_limit !== undefined)
    return words.gas({
      most: `${figure((Number(max_fee_per_gas) * Number(gas_limit)) / 1e18, language)} ${coinOf(rail)}`,
      per_gas: figure(Number(max_fee_per_gas) / 1e9, language),
      priority: figure(Number(max_priority_fee_per_gas) / 1e9, language),
    })
  const { fee_limit, energy, bandwidth, burn } = terms
  if (fee_limit !== undefined && energy !== undefined && bandwidth !== undefined)
    return words.energy({
      most: `${figure(Number(fee_limit) / unitsOf(rail), language)} ${coinOf(rail)}`,
      energy: new Intl.NumberFormat(language).format(Number(energy)),
      bandwidth: new Intl.NumberFormat(language).format(Number(bandwidth)),
      burn: `${figure(Number(burn ?? fee_limit) / unitsOf(rail), language)} ${coinOf(rail)}`,
    })
  return Object.entries(terms)
    .map(([name, value]) => `${words.terms[name] ?? name} ${value}`)
    .join(', ')
}
