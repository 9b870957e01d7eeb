/**
 * The addresses that mail is sent to and from: ASCII, one mailbox, nothing that ends a header or begins another address. A user
 * may sign in with an e-mail of another form; such a user gets no mail.
 */
const MAILBOX =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

export const isMailbox = (text: string): boolean =>
  text.length <= 254 && text.indexOf('@') <= 64 && MAILBOX.test(text)

export type Sender = { readonly name: string; readonly address: string }

/** `no-reply@example.com`, or `Name <no-reply@example.com>`. Undefined if the text is neither. */
export function parseSender(text: string): Sender | undefined {
  const named = /^([^<>"\p{Cc}\u2028-\u202e\u2066-\u2069]{1,80}) <([^<>]+)>$/u.exec(text)
  const sender = named ? { name: named[1]!.trim(), address: named[2]! } : { name: '', address: text }
  return isMailbox(sender.address) ? sender : undefined
}
