import { useEffect, useState } from 'react'
import { useText } from '../text/text.tsx'
import { Icon } from './icons.tsx'

const SHOWN_MS = 2_000

/** A copy function, and whether it just succeeded. */
export function useCopy(): { readonly copied: boolean | 'failed'; readonly copy: (value: string) => void } {
  const [copied, setCopied] = useState<boolean | 'failed'>(false)
  useEffect(() => {
    if (copied === false) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (value: string) =>
    // Browsers have no clipboard API without TLS.
    void (navigator.clipboard?.writeText(value) ?? Promise.reject()).then(
      () => setCopied(true),
      () => setCopied('failed'),
    )
  return { copied, copy }
}

type Props = { readonly value: string; readonly label?: string }

export function CopyButton({ value, label }: Props) {
  const { ui } = useText()
  const { copied, copy } = useCopy()
  return (
    <>
      <button
        type="button"
        className="copy"
        data-copy={value}
        aria-label={ui.copyOf(label ?? value)}
        onClick={(event) => {
          event.stopPropagation()
          copy(value)
        }}
      >
        <Icon name={copied === true ? 'check' : 'copy'} />
      </button>
      <CopiedNote copied={copied} />
    </>
  )
}

/** "Copied", shown beside the button and read by screen readers. */
export function CopiedNote({ copied }: { readonly copied: boolean | 'failed' }) {
  const { ui } = useText()
  return (
    <span className="copied" role="status">
      {copied === 'failed' ? ui.copy_failed : copied ? ui.copied : ''}
    </span>
  )
}
