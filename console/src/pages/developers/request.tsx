import { Link, useParams } from '@tanstack/react-router'
import type { Reply } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useEnvironment } from '../../environment.ts'
import { durationText } from '../../format/time.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Details } from '../../ui/details.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Id } from '../../ui/id.tsx'
import { Crumbs, Empty, PageHead, Section } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { usePlace, useSeen, useTrail, useView } from '../../view.tsx'
import { ObjectLink } from './object-link.tsx'
import './developers.css'

type Found = Reply<'console.requests.get'>

export function RequestPage() {
  const { developers, ui } = useText()
  const { requests } = developers
  const environment = useEnvironment()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const trail = useTrail('developers/requests', requests.title)
  const one = useSeen('console.requests.get', { params: { environment, request_id: id } })
  const missing = one.error instanceof ApiError && one.error.code === 'request_not_found'
  const request = one.data?.request
  return (
    <>
      <Crumbs>{[...trail, <Id key="id" id={id} as="full" />]}</Crumbs>
      <PageHead
        title={
          request ? (
            <span className="mono breaks">
              {request.method} {request.route ?? requests.no_route}
            </span>
          ) : (
            requests.one
          )
        }
        tab={requests.one}
        under={request && <Outcome of={request} />}
      />
      {missing && (
        <Empty
          title={requests.not_found}
          action={<Button onClick={() => void one.refetch()}>{ui.try_again}</Button>}
        >
          <p>{requests.not_found_about}</p>
        </Empty>
      )}
      {one.isError && !missing && one.data === undefined && (
        <Section>
          <Failure error={one.error} onAgain={() => void one.refetch()} reading />
        </Section>
      )}
      {one.data && <Body of={one.data} />}
    </>
  )
}

function Outcome({ of }: { readonly of: Found['request'] }) {
  const good = of.status < 400
  return (
    <>
      <Status state={good ? 'done' : 'failed'} large>
        {of.status}
        {of.error_code !== undefined && <span className="mono">&nbsp;{of.error_code}</span>}
      </Status>
      <Time at={of.created_at} as="detail" />
    </>
  )
}

function Body({ of: { request, said, answer } }: { readonly of: Found }) {
  const { requests } = useText().developers
  return (
    <div className="cols c21 grow">
      <section className="sec stack-4 flat">
        {said === null ? (
          <p className="quiet">{requests.nothing_kept}</p>
        ) : (
          <>
            <Code title={requests.said} aside={<Aside>{requests.said_about}</Aside>} as="json">
              {said}
            </Code>
            {answer === null ? (
              <p className="quiet">{requests.no_answer_kept}</p>
            ) : (
              <Code
                title={requests.answer}
                aside={
                  <>
                    <span className="tag">{answer.status}</span> <Aside>{requests.answer_about}</Aside>
                  </>
                }
                as="json"
              >
                {answer.body}
              </Code>
            )}
          </>
        )}
      </section>
      <RequestDetails of={request} />
    </div>
  )
}

const Aside = ({ children }: { readonly children: string }) => (
  <span className="faint small no-phone">{children}</span>
)

function RequestDetails({ of }: { readonly of: Found['request'] }) {
  const { requests } = useText().developers
  const place = usePlace()
  const view = useView()
  const { language } = useLanguage()
  const key = (
    <>
      {of.key_name ?? of.key_id}{' '}
      {of.key_last_four !== null && <span className="id">…{of.key_last_four}</span>}
    </>
  )
  return (
    <Section title={requests.details}>
      <Details
        rows={[
          [requests.request_id, <Id key="id" id={of.id} as="full" />],
          [requests.status, of.status],
          [
            requests.code,
            of.error_code !== undefined && (
              <a key="code" className="mono" href={`/docs/errors/${of.error_code}`}>
                {of.error_code}
              </a>
            ),
          ],
          [requests.took, durationText(of.duration_ms, language)],
          [requests.object, of.object_id !== undefined && <ObjectLink key="object" id={of.object_id} full />],
          [
            requests.key,
            // Operators find the partner's keys on the page of the partner.
            view === undefined ? (
              <Link key="key" to={place(`developers/keys/${of.key_id}`)}>
                {key}
              </Link>
            ) : (
              key
            ),
          ],
          [requests.address, of.address],
        ]}
      />
    </Section>
  )
}
