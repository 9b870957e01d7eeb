import { assets, mulDiv } from '../../core/money.ts'
import type { Network } from '../../core/networks.ts'
import type { FeeInputs } from '../../rails/chain/rail.ts'

/** The fee that the customer pays for a transfer (interface §4.2, contract §9). Rounded up, by less than a cent. */
const USDT = 10n ** BigInt(assets.USDT.decimals)
const CENT = USDT / 100n

const FLAT = 1n * USDT
const ETHEREUM = { gas: 65_000n, min: 3n * USDT, max: 25n * USDT }
const BITCOIN = { vbytes: 209n, min: 1000n, max: 50_000n }
const WEI_PER_ETH = 10n ** 18n

/** 20 % above the current cost, because the transaction is sent later. */
const MARGIN = { times: 12n, over: 10n }

export function feeOf(network: Network, inputs: FeeInputs): bigint {
  switch (network) {
    case 'polygon':
    case 'arbitrum':
    case 'optimism':
    case 'tron':
      return FLAT
    case 'ethereum': {
      const wei = inputs.gas_price_wei * ETHEREUM.gas
      const units = mulDiv(wei * inputs.eth_price, MARGIN.times, WEI_PER_ETH * MARGIN.over, 'up')
      return clamp(mulDiv(units, 1n, CENT, 'up') * CENT, ETHEREUM)
    }
    case 'bitcoin':
      return clamp(mulDiv(BITCOIN.vbytes * inputs.sat_per_vbyte, MARGIN.times, MARGIN.over, 'up'), BITCOIN)
  }
}

function clamp(fee: bigint, { min, max }: { min: bigint; max: bigint }): bigint {
  return fee < min ? min : fee > max ? max : fee
}
