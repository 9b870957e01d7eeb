import { createHash, createHmac, hkdfSync, pbkdf2Sync, randomBytes } from 'node:crypto'

/**
 * The role that a connection logs in as. Each schema has its own role. Its password is derived from SECRET_KEY, so all nodes
 * know it and nobody has to configure it (decision 0032).
 */
export type Login = {
  readonly user: string
  /** The password that the server accepted last; before the first login, the password derived from the first key. */
  password(): string
  /** The SCRAM verifier of the password derived from the first key, for the server to store. */
  verifier(): string
  accepted(): void
  /** The server refused this password. Returns whether there is another password to try. */
  refused(password: string): boolean
}

/**
 * The first key is the current one. The others are being rotated out: a role that still has their password can log in.
 * `laterKeys` reads keys that a rotation has added since; it is called when the server refuses all known passwords.
 */
export function openLogin(user: string, keys: readonly Buffer[], laterKeys?: () => readonly Buffer[]): Login {
  const passwords = keys.map((key) => derivePassword(key, user))
  let at = 0
  let refusals = 0

  function findLater(): boolean {
    const later = (laterKeys?.() ?? []).map((key) => derivePassword(key, user))
    const unknown = later.filter((password) => !passwords.includes(password))
    if (unknown.length > 0) at = passwords.length
    passwords.push(...unknown)
    return unknown.length > 0
  }

  return {
    user,
    password: () => passwords[at]!,
    verifier: () => scramVerifier(passwords[0]!),
    accepted() {
      refusals = 0
    },
    refused(password) {
      // Another connection was refused with the same password and has already moved on to the next one.
      if (password !== passwords[at]) return true
      at = (at + 1) % passwords.length
      if (++refusals < passwords.length || findLater()) return true
      refusals = 0
      return false
    },
  }
}

/** The name of a role contains the name of its database, so no two databases share a password. */
function derivePassword(key: Buffer, role: string): string {
  const bytes = hkdfSync('sha256', key, '', `trilho: password of the role ${role}`, 32)
  return Buffer.from(bytes).toString('base64url')
}

const ITERATIONS = 4096

/** What PostgreSQL stores instead of a password. Computed here, so that no statement and no statement log has the password. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256')
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64')
  const server = hmac('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`
}
