/**
 * The text that payers of a Pix scan or copy (*Pix Copia e Cola*): EMV fields of two digits for the id, two for the length, then the
 * value, closed by a CRC16 (BCB, Manual de Padrões para Iniciação do Pix). A static code names a key. A dynamic one names the address
 * where the payer's bank fetches the charge; its reference is there and not in the code.
 */
export type BrCode = {
  /** Centavos. Absent: the payer chooses, or the charge at `url` says. */
  readonly amount?: bigint
  /** The receiver's name and city. */
  readonly name: string
  readonly city: string
} & (
  | { readonly pix_key: string; readonly txid?: string; readonly url?: undefined }
  /** Without a scheme, as in the code. */
  | { readonly url: string; readonly pix_key?: undefined; readonly txid?: undefined }
)

const GUI = 'br.gov.bcb.pix'
const NO_TXID = '***'
const LENGTH_MOST = 512
const FIELD_MOST = 99
/** The largest amount that a code can have, in centavos. */
export const BR_CODE_AMOUNT_MOST = 10n ** 12n - 1n
const NAME_MOST = 25
const CITY_MOST = 15
const CRC_FIELD = '6304'

const staticTxid = /^[A-Za-z0-9]{1,25}$/
const visible = /^[\x21-\x7e]{1,77}$/
const amountText = /^[0-9]{1,10}(?:\.[0-9]{1,2})?$/
const crcText = /^[0-9A-Fa-f]{4}$/

/** CRC-16/CCITT-FALSE of the UTF-8 text: polynomial 0x1021, start 0xFFFF. */
export function crc16(text: string): number {
  let crc = 0xffff
  for (const byte of Buffer.from(text, 'utf8')) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
  }
  return crc
}

/** Throws `RangeError` if a part cannot be written in a code. Names lose their accents, and are cut at their limits. */
export function makeBrCode(code: BrCode): string {
  const { amount } = code
  const target = code.url ?? code.pix_key
  if (!visible.test(target)) throw new RangeError('The key or address does not fit into a BR Code')
  if (code.txid !== undefined && !staticTxid.test(code.txid))
    throw new RangeError('The txid of a static BR Code has 1 to 25 letters and digits')
  const body = [
    field('00', '01'),
    // 12: the code is for one payment.
    code.url === undefined ? '' : field('01', '12'),
    field('26', field('00', GUI) + field(code.url === undefined ? '01' : '25', target)),
    field('52', '0000'),
    field('53', '986'),
    amount === undefined ? '' : field('54', writeAmount(amount)),
    field('58', 'BR'),
    field('59', plain(code.name, NAME_MOST)),
    field('60', plain(code.city, CITY_MOST)),
    field('62', field('05', code.txid ?? NO_TXID)),
    CRC_FIELD,
  ].join('')
  return body + crc16(body).toString(16).toUpperCase().padStart(4, '0')
}

/** Undefined if the text is no Pix code, or its CRC is wrong. Fields that are not known are ignored. */
export function parseBrCode(text: string): BrCode | undefined {
  if (text.length > LENGTH_MOST) return undefined
  const fields = readFields(text)
  const crc = text.slice(-4)
  if (fields?.at(0)?.join() !== '00,01' || fields.at(-1)?.join() !== `63,${crc}`) return undefined
  if (!crcText.test(crc) || Number.parseInt(crc, 16) !== crc16(text.slice(0, -4))) return undefined
  const top = new Map(fields)
  if (top.size !== fields.length || top.get('53') !== '986' || top.get('58') !== 'BR') return undefined

  const account = accountOf(fields)
  const [name, city] = [top.get('59'), top.get('60')]
  const written = top.get('54')
  const amount = written === undefined ? undefined : readAmount(written)
  if (!account || !name || !city || (written !== undefined && amount === undefined)) return undefined
  const common = { ...(amount === undefined ? {} : { amount }), name, city }
  const [pix_key, url] = [account.get('01'), account.get('25')]
  if (pix_key === undefined) return url === undefined ? undefined : { ...common, url }
  if (url !== undefined) return undefined
  const txid = new Map(readFields(top.get('62') ?? '')).get('05')
  return { ...common, pix_key, ...(txid === undefined || txid === NO_TXID ? {} : { txid }) }
}

type Field = readonly [id: string, value: string]

/** Undefined if the text does not consist of whole fields. */
function readFields(text: string): Field[] | undefined {
  // Lengths count characters, and an emoji is one.
  const characters = [...text]
  const fields: Field[] = []
  for (let at = 0; at < characters.length; ) {
    const head = characters.slice(at, at + 4).join('')
    if (!/^[0-9]{4}$/.test(head)) return undefined
    const end = at + 4 + Number(head.slice(2))
    if (end > characters.length) return undefined
    fields.push([head.slice(0, 2), characters.slice(at + 4, end).join('')])
    at = end
  }
  return fields
}

/** The one account of the code that is a Pix account: fields 26 to 51 hold accounts of any arrangement. */
function accountOf(fields: readonly Field[]): ReadonlyMap<string, string> | undefined {
  const accounts = fields
    .filter(([id]) => id >= '26' && id <= '51')
    .map(([, value]) => new Map(readFields(value)))
    .filter((account) => account.get('00')?.toLowerCase() === GUI)
  return accounts.length === 1 ? accounts[0] : undefined
}

function field(id: string, value: string): string {
  if (value.length > FIELD_MOST) throw new RangeError(`Field ${id} of a BR Code is too long`)
  return `${id}${String(value.length).padStart(2, '0')}${value}`
}

function writeAmount(centavos: bigint): string {
  const digits = centavos.toString().padStart(3, '0')
  const reais = `${digits.slice(0, -2)}.${digits.slice(-2)}`
  if (centavos <= 0n || !amountText.test(reais))
    throw new RangeError('The amount does not fit into a BR Code')
  return reais
}

function readAmount(reais: string): bigint | undefined {
  if (!amountText.test(reais)) return undefined
  const [whole, cents = ''] = reais.split('.')
  return BigInt(`${whole}${cents.padEnd(2, '0')}`)
}

function plain(name: string, most: number): string {
  const text = name
    .normalize('NFD')
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, most)
    .trimEnd()
  if (text === '') throw new RangeError('A name or city of a BR Code must not be empty')
  return text
}
