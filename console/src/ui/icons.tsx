/** Drawn on 16 × 16, one line, in the colour of the text. */
const shapes = {
  overview: 'M2.5 13.5v-5M6.2 13.5v-9M9.8 13.5v-6M13.5 13.5v-11',
  customers:
    'M8.4 5.2a2.4 2.4 0 1 1-4.8 0 2.4 2.4 0 0 1 4.8 0M1.8 13.2c.3-2.4 2-3.8 4.2-3.8s3.9 1.4 4.2 3.8M10.6 3.1a2.3 2.3 0 0 1 0 4.3M12 9.8c1.3.5 2 1.7 2.2 3.4',
  payouts: 'M2.5 8h9M8.3 4.5 11.8 8l-3.5 3.5M14 3v10',
  transfers:
    'M4.5 5.3h1a2.7 2.7 0 0 1 0 5.4h-1a2.7 2.7 0 0 1 0-5.4zM10.5 5.3h1a2.7 2.7 0 0 1 0 5.4h-1a2.7 2.7 0 0 1 0-5.4z',
  quotes: 'M3 5.5h9.5M10 3l2.5 2.5L10 8M13 10.5H3.5M6 8l-2.5 2.5L6 13',
  keys: 'M7.8 10.8a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 0 1 5.6 0M7 8.8l6-6M10.7 5l2.2 2.2',
  webhooks: 'M8 3.6v4.1a2.8 2.8 0 1 1-2.8 2.8M9 2.6a1 1 0 1 1-2 0 1 1 0 0 1 2 0',
  events: 'M2.5 4h11M2.5 8h11M2.5 12h6',
  requests: 'M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h2.5',
  playground: 'M5 3.2v9.6L12.5 8z',
  team: 'M10.5 5a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0M3.2 13.5c.4-2.7 2.3-4.2 4.8-4.2s4.4 1.5 4.8 4.2',
  account: 'M2.5 4.5h11v8h-11zM2.5 7h11M5 10h2',
  partners: 'M2.5 13.5v-9h5v9M7.5 7h6v6.5M1.5 13.5h13M4.5 7h1M4.5 9.5h1M10 9.5h1',
  desk: 'M2.5 9.5 4.3 3.5h7.4l1.8 6v3.5h-11zM2.5 9.5h3.3c0 1.3 1 2 2.2 2s2.2-.7 2.2-2h3.3',
  proposals: 'M8 1.8 13 3.8v4c0 3-2 5.3-5 6.4-3-1.1-5-3.4-5-6.4v-4zM5.8 7.8l1.6 1.6 2.9-3',
  proof: 'M8 2.5v11M4.5 13.5h7M3 4.5h10M3 4.5 1.5 9h3zM13 4.5 11.5 9h3z',
  treasury:
    'M3.5 3h9A1.5 1.5 0 0 1 14 4.5v7a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 11.5v-7A1.5 1.5 0 0 1 3.5 3zM10.3 8a2.3 2.3 0 1 1-4.6 0 2.3 2.3 0 0 1 4.6 0M8 5.7V4.5M8 11.5v-1.2',
  rails: 'M5.2 2.5v11M10.8 2.5v11M3 5h10M3 8h10M3 11h10',
  developers: 'm5.5 4.5-3.5 3.5 3.5 3.5M10.5 4.5l3.5 3.5-3.5 3.5',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  search: 'M11.3 7a4.3 4.3 0 1 1-8.6 0 4.3 4.3 0 0 1 8.6 0M10.3 10.3l3.2 3.2',
  sun: 'M10.8 8a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 0 1 5.6 0M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z',
  down: 'm4 6 4 4 4-4',
  right: 'm6 4 4 4-4 4',
  copy: 'M6.7 5.5h5.6a1.2 1.2 0 0 1 1.2 1.2v5.6a1.2 1.2 0 0 1-1.2 1.2H6.7a1.2 1.2 0 0 1-1.2-1.2V6.7a1.2 1.2 0 0 1 1.2-1.2zM10.5 5.5v-3h-8v8h3',
  check: 'm3.5 8.5 3 3 6-7',
  download: 'M8 2.5v7.5M5 7l3 3 3-3M2.5 12.5h11',
  calendar:
    'M3.7 3.5h8.6a1.2 1.2 0 0 1 1.2 1.2v7.6a1.2 1.2 0 0 1-1.2 1.2H3.7a1.2 1.2 0 0 1-1.2-1.2V4.7a1.2 1.2 0 0 1 1.2-1.2zM2.5 6.5h11M5.5 2v2.5M10.5 2v2.5',
  plus: 'M8 3v10M3 8h10',
  close: 'm4 4 8 8M12 4l-8 8',
  lock: 'M4.2 7h7.6A1.2 1.2 0 0 1 13 8.2v4.1a1.2 1.2 0 0 1-1.2 1.2H4.2A1.2 1.2 0 0 1 3 12.3V8.2A1.2 1.2 0 0 1 4.2 7zM5.2 7V5a2.8 2.8 0 0 1 5.6 0v2',
  dots: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  again: 'M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3',
  bell: 'M4.2 11.2c.6-.8.8-1.6.8-4a3 3 0 0 1 6 0c0 2.4.2 3.2.8 4zM8 4.2V2.6M6.8 13.4a1.3 1.3 0 0 0 2.4 0',
  out: 'M6 2.5H3v11h3M7 8h6.5M11 5.5 13.5 8 11 10.5',
} as const

export type IconName = keyof typeof shapes

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'dots' ? 2.2 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={shapes[name]} />
    </svg>
  )
}

/** The logo: a `t` made of two rails. */
export function Mark({ size = 22 }: { readonly size?: number }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="2.2"
      aria-hidden="true"
    >
      <path d="M8 2v12.5A6.5 6.5 0 0 0 14.5 21H20M13 2v12a2.2 2.2 0 0 0 2.2 2.2H20M3.5 8h14.5" />
    </svg>
  )
}
