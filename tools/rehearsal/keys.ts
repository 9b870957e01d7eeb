import { randomBytes } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { addr } from 'micro-eth-signer'
import { tronAddressOfKey } from '../../src/rails/chain/tron/address.ts'
import { openDepositKeys } from '../../src/rails/signer/deposit-keys.ts'
import { openTestWallet } from '../../test/chains/bitcoin-wallet.ts'
import { spellingsOf, spellingsOfText } from '../../test/chains/secrets.ts'

/** The keys of the wallets and of deposit addresses. Only the signer gets the private ones. */
export type Keys = ReturnType<typeof newKeys>

export function newKeys() {
  const evm_key = randomBytes(32)
  const bitcoin_key = randomBytes(32)
  const tron_key = randomBytes(32)
  const master = HDKey.fromMasterSeed(randomBytes(32))
  const usdt = master.derive("m/44'/60'/0'")
  const btc = master.derive("m/84'/0'/0'")
  const gas_secret = openDepositKeys(usdt.privateExtendedKey!, usdt.publicExtendedKey!).gasSecret()
  return {
    ...{ evm_key, bitcoin_key, tron_key, usdt, btc, gas_secret },
    wallet: addr.fromPrivateKey(new Uint8Array(evm_key)),
    gas_account: addr.fromPrivateKey(gas_secret),
    bitcoin_wallet: openTestWallet(new Uint8Array(bitcoin_key)),
    tron_wallet: tronAddressOfKey(tron_key),
  }
}

/** The settings of the signer that are secret, by the names of their settings. */
export const secretSettings = ({
  evm_key,
  bitcoin_key,
  tron_key,
  usdt,
  btc,
}: Keys): Record<string, string> => ({
  ...{ EVM_WALLET_KEY: evm_key.toString('hex'), BITCOIN_WALLET_KEY: bitcoin_key.toString('hex') },
  TRON_WALLET_KEY: tron_key.toString('hex'),
  ...{ EVM_DEPOSIT_KEY: usdt.privateExtendedKey!, BITCOIN_DEPOSIT_KEY: btc.privateExtendedKey! },
})

/** What a service may have of them. */
export const publicSettings = ({
  wallet,
  bitcoin_wallet,
  tron_wallet,
  usdt,
  btc,
}: Keys): Record<string, string> => ({
  ...{ EVM_WALLET: wallet, BITCOIN_WALLET: bitcoin_wallet.address, TRON_WALLET: tron_wallet },
  ...{ EVM_DEPOSIT_XPUB: usdt.publicExtendedKey, BITCOIN_DEPOSIT_XPUB: btc.publicExtendedKey },
})

export type KeyForms = {
  readonly key: string
  readonly forms: readonly Buffer[]
  /** It follows from another key, and is stored nowhere. */
  readonly is_derived?: boolean
}

/** Each key in every form in which it could be somewhere: as bytes, hexadecimal, Base64 at each offset, and as the text of its setting. */
export function keyForms(keys: Keys): readonly KeyForms[] {
  const { evm_key, bitcoin_key, tron_key, usdt, btc, gas_secret } = keys
  const ofBytes = (bytes: Uint8Array) => {
    const secret = Buffer.from(bytes)
    return [secret, ...spellingsOf(secret).map((text) => Buffer.from(text))]
  }
  const ofText = (text: string) => spellingsOfText(text).map((spelling) => Buffer.from(spelling))
  return [
    { key: 'the key of the EVM wallet', forms: ofBytes(evm_key) },
    { key: 'the key of the Bitcoin wallet', forms: ofBytes(bitcoin_key) },
    { key: 'the key of the Tron wallet', forms: ofBytes(tron_key) },
    { key: 'the key of the gas account', forms: ofBytes(gas_secret), is_derived: true },
    {
      key: 'the key of EVM deposit addresses',
      forms: [...ofText(usdt.privateExtendedKey!), ...ofBytes(usdt.privateKey!)],
    },
    {
      key: 'the key of Bitcoin deposit addresses',
      forms: [...ofText(btc.privateExtendedKey!), ...ofBytes(btc.privateKey!)],
    },
  ]
}
