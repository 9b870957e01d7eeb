import { Link } from '@tanstack/react-router'
import { useEnvironment } from '../../environment.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Id } from '../../ui/id.tsx'
import { addressOfObject } from './common.tsx'

/** An id that links to the page of its object, if there is one. */
export function ObjectLink({ id, full = false }: { readonly id: string; readonly full?: boolean }) {
  const to = addressOfObject(useEnvironment(), id)
  const as = full ? 'full' : 'short'
  if (to === undefined) return <Id id={id} as={as} />
  // The copy button stands beside the link, not inside it.
  return (
    <span className="row inline">
      <Link to={to}>
        <Id id={id} as={as} bare />
      </Link>
      <CopyButton value={id} />
    </span>
  )
}
