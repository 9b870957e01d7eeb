import type { ReactNode } from 'react'

/** Renders **bold** and `code`. All other text is shown literally, never as markup. */
export function Rich({ children }: { readonly children: string }): ReactNode {
  return children.split(/(\*\*[^*]+\*\*|`[^`]+`)/g).map((part, i) => {
    const key = `${i}${part}`
    if (part.startsWith('**')) return <b key={key}>{part.slice(2, -2)}</b>
    if (part.startsWith('`')) {
      return (
        <span key={key} className="mono">
          {part.slice(1, -1)}
        </span>
      )
    }
    return part
  })
}
