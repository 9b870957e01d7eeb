import type { ReactNode } from 'react'
import { useText } from '../text/text.tsx'
import { Icon } from '../ui/icons.tsx'

/** A plain link: the browser downloads the file, so the page does not hold it in memory. */
export function CsvLink({ href, children }: { readonly href: string; readonly children?: ReactNode }) {
  const { ui } = useText()
  return (
    <a className="btn" href={href} title={ui.export_hint} download>
      <Icon name="download" />
      {children ?? ui.export_csv}
    </a>
  )
}
