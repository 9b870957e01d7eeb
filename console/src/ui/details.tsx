import { Fragment, type ReactNode } from 'react'

/** Names and values in two columns; what is undefined, null or false is left out. */
export function Details({
  rows,
}: {
  readonly rows: readonly (readonly [name: ReactNode, value: ReactNode])[]
}) {
  return (
    <dl className="dl">
      {rows
        .filter(([, value]) => value !== undefined && value !== null && value !== false)
        .map(([name, value], i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: details keep their order
          <Fragment key={i}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  )
}

/** The partner's own texts of a customer or an order, a row each. */
export const metadataRows = (metadata: Readonly<Record<string, string>> = {}) =>
  Object.entries(metadata).map(
    ([name, value]) =>
      [
        <span key="name" className="mono">
          {name}
        </span>,
        <span key="value" className="wrap-any">
          {value}
        </span>,
      ] as const,
  )
