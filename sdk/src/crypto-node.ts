import { webcrypto } from 'node:crypto'

/** Node 18 has WebCrypto, but not as a global. */
export const crypto = webcrypto as unknown as Crypto
