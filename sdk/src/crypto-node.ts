import { webcrypto } from 'node:crypto'

/** Node 18 has WebCrypto, but not under a global name. */
export const crypto = webcrypto as unknown as Crypto
