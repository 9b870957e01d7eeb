/** The charge's own id is part of its reference in the Pix network: 32 letters and digits. */
const PREFIX = 'TRILHO'
const OURS = /^TRILHO[0-9a-z]{26}$/

export const txidOf = (charge_id: string): string => `${PREFIX}${charge_id.slice(charge_id.indexOf('_') + 1)}`

/** Undefined: the reference is none of this service. */
export const chargeIdOf = (txid: string | undefined): string | undefined =>
  txid !== undefined && OURS.test(txid) ? `chg_${txid.slice(PREFIX.length)}` : undefined
