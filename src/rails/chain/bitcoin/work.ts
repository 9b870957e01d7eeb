/**
 * The work that a block of Bitcoin's own chain proves at least, whatever the node that sends it says: its hash begins with so many zeros
 * in hex. Every block since 2018 does. Finding one such hash takes 2^72 tries: a year of a fast mining machine.
 */
const ZEROS = '0'.repeat(18)

export const provesWork = (block_hash: string): boolean => block_hash.startsWith(ZEROS)
