import { useState } from 'react'

const BYTES = 16

/** What a form is called, so that what is sent twice happens once. It stays the same for as long as the form is open. */
export function useFormId(): string {
  const [id] = useState(newFormId)
  return id
}

const newFormId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
