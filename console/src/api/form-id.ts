import { useState } from 'react'

const BYTES = 16

/** An idempotency key per open form: a form that is sent twice takes effect once. */
export function useFormId(): string {
  const [id] = useState(newFormId)
  return id
}

const newFormId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
