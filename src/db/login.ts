import { createHash, createHmac, hkdfSync, pbkdf2Sync, randomBytes } from 'node:crypto'

/**
 * As whom a connection comes in. Each schema has a role of its own to log in as, and nobody ever types its password: it
 * follows from SECRET_KEY, so all nodes know it and none has to be told (decision 0040).
 */
export type Login = {
  readonly user: string
  /** The one that the server took last; that of the first key while none was tried. */
  password(): string
  /** What the server is to keep of the password that follows from the first key. */
  verifier(): string
  accepted(): void
  /** The server does not take this one. Whether there is one that it has not refused yet. */
  refused(password: string): boolean
}

/**
 * The first key is the one in use. The others are on their way out: what still has their password goes on with it. `laterKeys`
 * is asked for keys that came later, when the server takes none of the passwords.
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
      // Somebody else has met with the same, and turned to the next one already.
      if (password !== passwords[at]) return true
      at = (at + 1) % passwords.length
      if (++refusals < passwords.length || findLater()) return true
      refusals = 0
      return false
    },
  }
}

/** The name of a role holds the name of its database, so no two databases share a password. */
export function derivePassword(key: Buffer, role: string): string {
  const bytes = hkdfSync('sha256', key, '', `trilho: password of the role ${role}`, 32)
  return Buffer.from(bytes).toString('base64url')
}

const ITERATIONS = 4096

/** What PostgreSQL keeps instead of a password. Made here, so that no statement, and no log of statements, ever has the password. */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256')
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64')
  const server = hmac('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`
}
