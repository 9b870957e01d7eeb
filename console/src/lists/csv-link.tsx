import type { ReactNode } from 'react'
import { useText } from '../text/text.tsx'
import { Icon } from '../ui/icons.tsx'

type DownloadProps = { readonly href: string; readonly hint: string; readonly children: ReactNode }

/** A plain link: the browser downloads the file, so the page does not hold it in memory. */
export function DownloadLink({ href, hint, children }: DownloadProps) {
  return (
    <a className="btn" href={href} title={hint} download>
      <Icon name="download" />
      {children}
    </a>
  )
}

export function CsvLink({ href, children }: { readonly href: string; readonly children?: ReactNode }) {
  const { ui } = useText()
  return (
    <DownloadLink href={href} hint={ui.export_hint}>
      {children ?? ui.export_csv}
    </DownloadLink>
  )
}
