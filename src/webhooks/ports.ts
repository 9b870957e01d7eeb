/**
 * Ports that a webhook may go to: 443, 8443, in the sandbox 80, and ports from 1024 up that belong to no well-known service.
 * A partner chooses the target of the POST, so it must not reach a service that speaks another protocol.
 */
const SANDBOX_ONLY = 80
const FIRST_FREE = 1024
const ALWAYS = [443, 8443]

/** Kept in step with docs/decisions/0017-webhook-egress.md. */
export const servicePorts: Readonly<Record<string, readonly number[]>> = {
  'proxies and tunnels': [1080, 1194, 1723, 3128, 9050],
  'remote shells and desktops': [2222, 3389, 5555, 5900, 5901, 5902, 5903, 5985, 5986, 6000],
  'files and version control': [2049, 3260, 3690, 4045, 6566, 9418],
  mail: [4190, 10025],
  'phone and chat': [
    1719, 1720, 5060, 5061, 5222, 5269, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 25565,
  ],
  'Java management': [1099, 7000, 7001, 7199, 8005, 8009, 8686],
  'relational databases': [1433, 1434, 1521, 3306, 5432, 5433, 6432, 26257, 33060, 50000],
  'other databases': [
    5984, 7473, 7474, 7687, 8086, 8123, 8529, 8983, 9042, 9160, 9200, 9300, 19530, 27017, 27018, 27019, 28015,
    28017,
  ],
  caches: [6379, 6380, 11211, 16379, 26379],
  queues: [1883, 4222, 4369, 5671, 5672, 8883, 9092, 9093, 9094, 15672, 25672, 61613, 61616],
  'big data': [2181, 7077, 8020, 50070],
  'containers and clusters': [
    2375, 2376, 2377, 2379, 2380, 4646, 4647, 4648, 6443, 7946, 8001, 8300, 8301, 8302, 8472, 8500, 8501,
    8600, 10249, 10250, 10255, 10256, 10257, 10259,
  ],
  'secrets and configuration': [4505, 4506, 8200, 8201, 35357],
  'metrics and logs': [5044, 5601, 8125, 8126, 9090, 9091, 9100, 9600, 10050, 10051],
  others: [3659, 5353, 6081, 6082, 10000, 20000],
}
const taken = new Set(Object.values(servicePorts).flat())

/** With `allow_private` (development) every port from 1024 up is allowed. */
export function isWebPort(port: number, rules: { allow_http: boolean; allow_private: boolean }): boolean {
  if (ALWAYS.includes(port)) return true
  if (port === SANDBOX_ONLY) return rules.allow_http
  return port >= FIRST_FREE && (rules.allow_private || !taken.has(port))
}
