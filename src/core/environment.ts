/** Interface §1: two environments behind one address; the API key picks one, nothing else does. */
export const environments = ['production', 'sandbox'] as const

export type Environment = (typeof environments)[number]
