import { Link } from '@tanstack/react-router'
import type { ApiRequest } from '../api/types.ts'
import { durationText } from '../format/time.ts'
import { useLanguage, useText } from '../text/text.tsx'
import { Code } from '../ui/code.tsx'
import { Section } from '../ui/page.tsx'
import { usePlace } from '../view.tsx'
import './object.css'

/** The API request that created an object: its body and its response. */
type Props = {
  readonly request: ApiRequest
  /** Only part of the request is stored. */
  readonly partly?: boolean
}

export function MadeBy({ request, partly = false }: Props) {
  const { object } = useText()
  const { language } = useLanguage()
  const place = usePlace()
  const { id, route, logged, body, answer } = request
  const open = id !== null && logged !== null && (
    <Link className="small" to={place(`developers/requests/${id}`)}>
      {object.open_log}
    </Link>
  )
  return (
    <Section
      title={object.request}
      about={<span className="mono">{route}</span>}
      {...(open ? { actions: open } : {})}
    >
      <div className="both">
        <Code title={partly ? object.request_partly : object.request_body} as="json">
          {body === null ? object.no_body : JSON.stringify(body)}
        </Code>
        {answer === null ? (
          <p className="quiet">{object.no_answer}</p>
        ) : (
          <Code
            title={object.answer}
            as="json"
            aside={
              <>
                <span className="tag">{answer.status}</span>
                {logged !== null && <span>{durationText(logged.duration_ms, language)}</span>}
              </>
            }
          >
            {JSON.stringify(answer.body)}
          </Code>
        )}
      </div>
    </Section>
  )
}
