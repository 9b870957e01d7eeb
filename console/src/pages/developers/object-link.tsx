import { Link } from '@tanstack/react-router'
import { CopyButton } from '../../ui/copy.tsx'
import { Id } from '../../ui/id.tsx'
import { usePlace, useView } from '../../view.tsx'
import { pageOfObject } from './common.tsx'

/** An id that links to the page of its object, if there is one. */
export function ObjectLink({ id, full = false }: { readonly id: string; readonly full?: boolean }) {
  const place = usePlace()
  const page = pageOfObject(id, useView() !== undefined)
  const as = full ? 'full' : 'short'
  if (page === undefined) return <Id id={id} as={as} />
  // The copy button stands beside the link, not inside it.
  return (
    <span className="row inline">
      <Link to={place(page)}>
        <Id id={id} as={as} bare />
      </Link>
      <CopyButton value={id} />
    </span>
  )
}
