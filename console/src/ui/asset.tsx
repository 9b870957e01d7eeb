/** The symbol of each asset: a square for BRL, a circle for crypto assets. */
const signs: Readonly<Record<string, string>> = {
  BRL: 'M4.6 12.6V5.4h2.3a2.05 2.05 0 0 1 0 4.1H4.6M6.8 9.5l2 3.1M13.3 6.9c-.3-.8-1-1.2-1.8-1.2-1 0-1.8.5-1.8 1.5 0 2.1 3.7 1 3.7 3.2 0 1-.8 1.6-1.9 1.6-1 0-1.7-.5-2-1.3M11.5 4.6v1.1M11.5 12v1.3',
  USDT: 'M5 5.3h8M9 5.3v8M6.3 9.3l5.4-1.3M6.3 11.2l5.4-1.3',
  BTC: 'M6.4 5.3h3.4a1.8 1.8 0 0 1 0 3.6H6.4zM6.4 8.9h3.9a1.9 1.9 0 0 1 0 3.8H6.4zM7.8 3.9v1.4M9.7 3.9v1.4M7.8 12.7v1.4M9.7 12.7v1.4',
}

export function Coin({ asset, big = false }: { readonly asset: string; readonly big?: boolean }) {
  return (
    <span className={`coin ${asset}${big ? ' big' : ''}`}>
      <svg
        viewBox="0 0 18 18"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.3"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        <path d={signs[asset]} />
      </svg>
    </span>
  )
}

export function Asset({ asset }: { readonly asset: string }) {
  return (
    <span className="asset">
      <Coin asset={asset} />
      {asset}
    </span>
  )
}
