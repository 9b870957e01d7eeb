import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useText } from '../../text/text.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Id } from '../../ui/id.tsx'
import { Crumbs, PageHead } from '../../ui/page.tsx'
import { useTrail } from '../../view.tsx'

type Props<Page> = {
  readonly id: string
  readonly list: 'customers' | 'charges' | 'payouts' | 'transfers'
  readonly words: { readonly title: string; readonly one: string }
  readonly query: UseQueryResult<Page>
  readonly children: (page: Page) => ReactNode
}

/** The page of one object: a link back to its list, then the object once it is loaded. */
export function ObjectPage<Page>({ id, list, words, query, children }: Props<Page>) {
  const trail = useTrail(list, words.title)
  return (
    <>
      <Crumbs>{[...trail, <Id key="id" id={id} as="full" />]}</Crumbs>
      {query.data === undefined ? <Waiting query={query} title={words.one} /> : children(query.data)}
    </>
  )
}

type WaitingProps = {
  readonly query: Pick<UseQueryResult, 'isError' | 'error' | 'refetch'>
  readonly title: string
}

/** Shown while the object loads, or the error if it cannot be loaded. */
function Waiting({ query, title }: WaitingProps) {
  const { ui } = useText()
  return (
    <>
      <PageHead title={title} />
      <div className="sec no-line">
        {query.isError ? (
          <Failure error={query.error} onAgain={() => void query.refetch()} reading />
        ) : (
          <p className="quiet" aria-busy="true">
            {ui.loading}
          </p>
        )}
      </div>
    </>
  )
}
