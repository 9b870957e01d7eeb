import { shortAddress, shortId } from '../format/id.ts'
import { CopyButton } from './copy.tsx'

type Props = {
  readonly id: string
  /** `short` po_01m7…xzbnr, `address` first eight and last six, `full` the whole. */
  readonly as?: 'short' | 'address' | 'full'
  /** Without a copy button, where a row or link already has one. */
  readonly bare?: boolean
}

const written = { short: shortId, address: shortAddress, full: (id: string) => id }

export function Id({ id, as = 'short', bare = false }: Props) {
  return (
    <span className="id" title={id}>
      {written[as](id)}
      {!bare && <CopyButton value={id} />}
    </span>
  )
}
