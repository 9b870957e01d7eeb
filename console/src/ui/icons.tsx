import { type IconName, shapes } from './icon-shapes.ts'

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
