import type { Texts } from '../text/en/en.ts'
import type { IconName } from '../ui/icon-shapes.ts'

type Word = {
  [K in keyof Texts['shell']]: Texts['shell'][K] extends string ? K : never
}[keyof Texts['shell']]

export type NavEntry = {
  readonly word: Word
  readonly icon: IconName
  /** The path after `/{environment}` or `/operator/{environment}`. */
  readonly to: string
  /** Further path prefixes for which this entry is current. */
  readonly also?: readonly string[]
  readonly only?: 'sandbox'
  /** The permit that the entry requires. */
  readonly permit?: string
}

export type NavGroup = { readonly word?: Word; readonly places: readonly NavEntry[] }

export const partnerParts: readonly NavGroup[] = [
  { places: [{ word: 'overview', icon: 'overview', to: '' }] },
  {
    word: 'money',
    places: [
      { word: 'customers', icon: 'customers', to: 'customers', also: ['deposits'] },
      { word: 'charges', icon: 'charges', to: 'charges' },
      { word: 'payouts', icon: 'payouts', to: 'payouts' },
      { word: 'transfers', icon: 'transfers', to: 'transfers' },
      { word: 'quotes', icon: 'quotes', to: 'quotes', also: ['trades'] },
    ],
  },
  {
    word: 'developers',
    places: [
      { word: 'keys', icon: 'keys', to: 'developers/keys' },
      { word: 'webhooks', icon: 'webhooks', to: 'developers/webhooks' },
      { word: 'events', icon: 'events', to: 'developers/events' },
      { word: 'requests', icon: 'requests', to: 'developers/requests' },
      { word: 'playground', icon: 'playground', to: 'playground', only: 'sandbox', permit: 'sandbox.act' },
    ],
  },
  {
    word: 'account',
    places: [
      { word: 'team', icon: 'team', to: 'team' },
      { word: 'terms', icon: 'account', to: 'account' },
    ],
  },
]

export const operatorParts: readonly NavGroup[] = [
  {
    places: [
      { word: 'overview', icon: 'overview', to: '' },
      { word: 'partners', icon: 'partners', to: 'partners', also: ['customers', 'objects'] },
    ],
  },
  {
    word: 'control',
    places: [
      { word: 'desk', icon: 'desk', to: 'desk' },
      { word: 'proposals', icon: 'proposals', to: 'proposals' },
      { word: 'proof', icon: 'proof', to: 'proof' },
    ],
  },
  {
    word: 'house',
    places: [
      { word: 'treasury', icon: 'treasury', to: 'treasury' },
      { word: 'rails', icon: 'rails', to: 'rails' },
      { word: 'audit', icon: 'requests', to: 'audit' },
      { word: 'operators', icon: 'team', to: 'people' },
      { word: 'golive', icon: 'check', to: 'golive' },
    ],
  },
]

/** The four tabs on a phone; the other entries are under More. */
export const partnerTabs: readonly NavEntry[] = [
  { word: 'overview', icon: 'overview', to: '' },
  { word: 'customers', icon: 'customers', to: 'customers', also: ['deposits'] },
  { word: 'payouts_short', icon: 'payouts', to: 'payouts' },
  { word: 'developers_short', icon: 'developers', to: 'developers/keys', also: ['developers'] },
]

export const operatorTabs: readonly NavEntry[] = [
  { word: 'overview', icon: 'overview', to: '' },
  { word: 'partners', icon: 'partners', to: 'partners', also: ['customers', 'objects'] },
  { word: 'desk_short', icon: 'desk', to: 'desk' },
  { word: 'proof_short', icon: 'proof', to: 'proof' },
]

export const pageAddress = (base: string, { to }: NavEntry): string => (to === '' ? base : `${base}/${to}`)

/** Whether the path is this entry or below it. */
export function isAt(path: string, base: string, place: NavEntry): boolean {
  const at = path.replace(/\/$/, '')
  const own = pageAddress(base, place)
  if (place.to === '') return at === own
  return [own, ...(place.also ?? []).map((also) => `${base}/${also}`)].some(
    (start) => at === start || at.startsWith(`${start}/`),
  )
}
