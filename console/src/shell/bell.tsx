import { Link } from '@tanstack/react-router'
import { useCall } from '../api/queries.ts'
import { useText } from '../text/text.tsx'
import { Icon } from '../ui/icons.tsx'

const EVERY_MS = 60_000

/** The way to the notifications, with the number of unread ones. */
export function Bell() {
  const { notifications } = useText()
  const { data } = useCall('console.me.notifications.count', {}, { every: EVERY_MS })
  const unread = data?.unread ?? 0
  const name = notifications.bell(unread)
  return (
    <Link to="/notifications" className="bar-button bell" aria-label={name} title={name}>
      <Icon name="bell" />
      {unread > 0 && (
        <span className="unread" aria-hidden="true">
          {unread > 99 ? '99+' : unread}
        </span>
      )}
    </Link>
  )
}
