import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useCall } from '../../api/queries.ts'
import { type Environment, useEnvironment } from '../../environment.ts'
import { useText } from '../../text/text.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Id } from '../../ui/id.tsx'
import { Empty, PageHead, Section } from '../../ui/page.tsx'
import './operator.css'

/** Kinds of objects that operators can open, by the prefix of their ids. */
const opened = /^(po|tr|dep|chg|qt|td|cus|evt|whe|req|ptn|key|prp)_/

type Props = {
  readonly id: string
  readonly as?: 'short' | 'full'
  /** The environment of the object, if it is not the one in the address. */
  readonly environment?: Environment
}

/** An id that leads to the page of its object, whatever partner it belongs to. */
export function OperatorId({ id, as = 'short', environment }: Props) {
  const here = useEnvironment()
  if (!opened.test(id)) return <Id id={id} as={as} />
  return (
    <span className="row inline to-object">
      <Link to="/operator/$environment/objects/$id" params={{ environment: environment ?? here, id }}>
        <Id id={id} as={as} bare />
      </Link>
      <CopyButton value={id} />
    </span>
  )
}

/** Finds the object and opens its page, below the address of its partner. */
export function OperatorObjectPage() {
  const { operator, ui } = useText()
  const environment = useEnvironment()
  const navigate = useNavigate()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const found = useCall('console.operator.search', { params: { environment }, query: { q: id } })
  const path = found.data?.data[0]?.path
  useEffect(() => {
    if (path !== undefined) void navigate({ to: path, replace: true })
  }, [path, navigate])
  return (
    <>
      <PageHead title={<Id id={id} as="full" />} tab={id} />
      {found.isError && (
        <Section>
          <Failure error={found.error} onAgain={() => void found.refetch()} reading />
        </Section>
      )}
      {!found.isError && found.data?.data.length !== 0 && (
        <p className="sec no-line quiet" aria-busy="true">
          {ui.loading}
        </p>
      )}
      {found.data?.data.length === 0 && <Empty title={operator.view.not_found[environment]} />}
    </>
  )
}
