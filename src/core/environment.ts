/** §1 item 2 of the interface: two environments behind one address; the API key picks one, nothing else does. */
export const environments = ['production', 'sandbox'] as const

export type Environment = (typeof environments)[number]
