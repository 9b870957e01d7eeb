import { Link } from '@tanstack/react-router'
import { useText } from '../text/text.tsx'
import { Empty, useTitle } from '../ui/page.tsx'

/** Shown for an unknown page and for an object of another environment or team alike. */
export function Missing() {
  const { shell } = useText()
  useTitle(shell.not_found.title)
  return (
    <Empty
      page
      title={shell.not_found.title}
      action={
        <Link className="btn" to="/">
          {shell.not_found.go}
        </Link>
      }
    >
      <p className="quiet">{shell.not_found.text}</p>
    </Empty>
  )
}
