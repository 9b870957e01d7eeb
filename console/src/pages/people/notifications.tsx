import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { shortId } from '../../format/id.ts'
import { useText } from '../../text/text.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Empty, EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Glyph } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'

type Notification = Reply<'console.me.notifications.list'>['data'][number]

const EVERY_MS = 60_000

/** What the person was told, newest first. Opening the page marks the shown notifications as read. */
export function NotificationsPage() {
  const { notifications } = useText()
  const list = useCall('console.me.notifications.list', {}, { every: EVERY_MS })
  useReading(list.data?.data)
  return (
    <>
      <PageHead title={notifications.title} actions={<Link to="/me">{notifications.settings}</Link>} />
      {list.isError && <Failure error={list.error} onAgain={() => void list.refetch()} reading />}
      {list.data?.data.length === 0 && (
        <Empty page title={notifications.empty}>
          <p className="quiet">{notifications.empty_about}</p>
        </Empty>
      )}
      {list.data !== undefined && list.data.data.length > 0 && (
        <>
          <Section>
            <ul className="att">
              {list.data.data.map((one) => (
                <Line key={one.id} one={one} />
              ))}
            </ul>
          </Section>
          <EndMark />
        </>
      )}
    </>
  )
}

/** The list itself is not read again, so that what is new stays marked while the page is open. */
function useReading(shown: readonly Notification[] | undefined): void {
  const { mutate } = useAct('console.me.notifications.read', { stale: ['console.me.notifications.count'] })
  const told = useRef(new Set<string>())
  useEffect(() => {
    const seen = (shown ?? [])
      .filter(({ id, count, read }) => !read && !told.current.has(`${id} ${count}`))
      .map(({ id, count }) => ({ id, count }))
    if (seen.length === 0) return
    for (const { id, count } of seen) told.current.add(`${id} ${count}`)
    mutate({ body: { seen } })
  }, [shown, mutate])
}

function Line({ one }: { readonly one: Notification }) {
  const { notifications, shell } = useText()
  const { kind, place, topic, count, samples, read, last_at, path } = one
  const is_money = kind === 'limit_near' && topic !== 'requests'
  const said = is_money ? notifications.money_limit(count) : (notifications.kinds[kind]?.(count) ?? kind)
  const about = is_money ? (notifications.topics[topic] ?? topic) : topic === 'requests' ? '' : topic
  const named = samples.map(({ id, note }) =>
    kind === 'sign_in'
      ? (note ?? notifications.terminal)
      : [shortId(id), note && `…${note}`].join(' ').trim(),
  )
  // The same endpoint may have failed many times: it is named once, and the rest may be that endpoint too.
  const listed = [...new Set(named)]
  const others = listed.length === named.length ? count - samples.length : 0
  const rest = others > 0 ? [notifications.more(others)] : []
  return (
    <li>
      <Glyph shape="attention" className={read ? 'quiet' : 'warn'} />
      <span>
        {!read && <span className="tag">{notifications.unread}</span>}{' '}
        <span className={read ? undefined : 'med'}>{said}</span>{' '}
        <span className="quiet small">
          {[place === '' ? '' : shell[place], about, [...listed, ...rest].join(', ')]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </span>
      <span className="quiet since">
        <Time at={last_at} />
      </span>
      <Link to={path}>{notifications.open}</Link>
    </li>
  )
}
