/** Deno, Bun and Workers have WebCrypto as a global. */
export const crypto: Crypto = globalThis.crypto
