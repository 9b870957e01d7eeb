import { Link } from '@tanstack/react-router'
import { useEnvironment } from '../../environment.ts'
import { useSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'

/** For an empty page of the sandbox: the playground makes the first call. Nothing for people who may not use it. */
export function ToPlayground() {
  const { playground } = useText()
  const environment = useEnvironment()
  const { may } = useSession()
  if (environment !== 'sandbox' || !may('sandbox.act')) return null
  return (
    <Link className="btn" to="/$environment/playground" params={{ environment }}>
      {playground.try_here}
    </Link>
  )
}
