/** Deno, Bun and Workers have it under its usual name. */
export const crypto: Crypto = globalThis.crypto
