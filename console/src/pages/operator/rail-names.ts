/** Names of rails are not translated. */
export const railNames: Readonly<Record<string, string>> = {
  pix: 'Pix',
  polygon: 'Polygon',
  arbitrum: 'Arbitrum',
  optimism: 'Optimism',
  tron: 'Tron',
  ethereum: 'Ethereum',
  bitcoin: 'Bitcoin',
}
export const railName = (rail: string): string => railNames[rail] ?? rail
