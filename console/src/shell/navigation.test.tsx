import { expect, test } from 'vitest'
import { isAt, operatorParts, operatorTabs, partnerParts, partnerTabs } from './navigation.ts'

test.each([
  ['/sandbox/deposits/dep_1', '/sandbox', partnerParts, partnerTabs, 'customers'],
  ['/sandbox/trades/td_1', '/sandbox', partnerParts, undefined, 'quotes'],
  ['/operator/sandbox/customers/cus_1', '/operator/sandbox', operatorParts, operatorTabs, 'partners'],
  ['/operator/sandbox/objects/po_1', '/operator/sandbox', operatorParts, operatorTabs, 'partners'],
] as const)('%s has an entry that is current', (path, base, parts, tabs, to) => {
  const current = parts.flatMap(({ places }) => places).filter((place) => isAt(path, base, place))
  expect(current.map((place) => place.to)).toEqual([to])
  if (tabs !== undefined)
    expect(tabs.filter((place) => isAt(path, base, place)).map((place) => place.to)).toEqual([to])
})
