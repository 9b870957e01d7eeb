import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext } from 'react'
import type { CallInput, Name, Reply } from './api/client.ts'
import { useCall } from './api/queries.ts'
import { useEnvironment } from './environment.ts'

/** The partner whose pages an operator looks at. Undefined on the partner's own pages. */
type View = {
  readonly partner_id: string
  readonly name: string
  /** The path to the partner's page. */
  readonly trail: readonly ReactNode[]
  /** What operators can do with a customer, elsewhere. */
  readonly customerActions?: (customer_id: string) => ReactNode
  /** What only operators see of a transfer. */
  readonly transferParts?: (transfer_id: string) => ReactNode
}

const ViewContext = createContext<View | undefined>(undefined)
export const ViewOfPartner = ViewContext.Provider
export const useView = (): View | undefined => useContext(ViewContext)

/** The address of a page of the partner: `payouts/po_…` is below the environment, or below the partner for an operator. */
export function usePlace(): (path: string) => string {
  const environment = useEnvironment()
  const view = useView()
  const base = view ? `/operator/${environment}/partners/${view.partner_id}` : `/${environment}`
  return (path) => `${base}/${path}`
}

/** The calls that operators have too, under the partner's address and with the same reply. */
type SeenName = {
  [N in Name]: N extends `console.${infer Rest}`
    ? `console.operator.view.${Rest}` extends Name
      ? N
      : never
    : never
}[Name]

/** Reads an object of the partner: with the partner's own call, or with the operator's. */
export function useSeen<N extends SeenName>(
  name: N,
  input: CallInput<N>,
  options: Parameters<typeof useCall<N>>[2] = {},
): UseQueryResult<Reply<N>> {
  const view = useView()
  const { params, ...rest } = input as { readonly params: object }
  const seen = view
    ? {
        name: name.replace('console.', 'console.operator.view.'),
        input: { ...rest, params: { ...params, partner_id: view.partner_id } },
      }
    : { name, input }
  return useCall(seen.name as N, seen.input as CallInput<N>, options)
}

/** What stands before an object in the path of its page: its list, or its partner for an operator. */
export function useTrail(list: string, title: string): readonly ReactNode[] {
  const view = useView()
  const place = usePlace()
  if (view !== undefined) return [...view.trail, <span key="list">{title}</span>]
  return [
    <Link key="list" to={place(list)}>
      {title}
    </Link>,
  ]
}
