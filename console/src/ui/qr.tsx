import { useMemo } from 'react'
import { encode } from 'uqr'
import './qr.css'

/** Dark on light in both themes: cameras expect that of a QR code. */
export function Qr({ text, name }: { readonly text: string; readonly name: string }) {
  const { data, size } = useMemo(() => encode(text, { border: 2 }), [text])
  const dark = data.flatMap((row, y) => row.map((on, x) => (on ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={name}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={dark} fill="#000" />
    </svg>
  )
}
