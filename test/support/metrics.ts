/** Metrics are for whoever has the token; every test server has this one. */
export const METRICS_TOKEN = 'metrics of the tests'

/** What a node tells Prometheus. */
export async function scrape(url: string): Promise<string> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  return (await fetch(`${url}/metrics`, { headers })).text()
}
