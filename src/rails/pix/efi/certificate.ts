import { createPrivateKey, X509Certificate } from 'node:crypto'

/** The certificate that proves to Efí who calls, and its private key; both PEM. */
export type ClientCertificate = { readonly cert: string; readonly key: string }

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g
const KEY = /-----BEGIN (?:RSA |EC )?PRIVATE KEY-----[A-Za-z0-9+/=\s]+-----END (?:RSA |EC )?PRIVATE KEY-----/

const CONVERT =
  'openssl pkcs12 -legacy -in certificate.p12 -nodes -out efi.pem (it asks for the password; Efí’s is empty)'

/** Reads the certificate and the key from one PEM text. Throws what is wrong with it; no message quotes the text. */
export function readClientCertificate(text: string): ClientCertificate {
  if (!text.includes('-----BEGIN '))
    throw new Error(
      `must be PEM text. A .p12 file, as Efí hands it out, is not read: its old encryption is not supported. Convert it with: ${CONVERT}`,
    )
  const cert = text.match(CERTIFICATES)?.join('\n')
  if (cert === undefined)
    throw new Error(`has no certificate. Make one file with certificate and key: ${CONVERT}`)
  if (text.includes('ENCRYPTED'))
    throw new Error(`has an encrypted private key. Take the password off: ${CONVERT}`)
  const key = KEY.exec(text)?.[0]
  if (key === undefined)
    throw new Error(`has no private key. Make one file with certificate and key: ${CONVERT}`)
  if (!isPair({ cert, key }))
    throw new Error('has a certificate and a private key that do not belong together')
  return { cert, key }
}

function isPair({ cert, key }: ClientCertificate): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    throw new Error('has a certificate or a private key that cannot be read')
  }
}
