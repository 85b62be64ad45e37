import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isJsonObject } from '../../domain/json.ts'
import { installInCache } from '../../local/services/cache.ts'
import { findOnPath } from '../../local/services/command.ts'
import { unpackDebian } from '../../local/services/debian.ts'
import { freePort } from '../../local/services/ports.ts'
import { startServer } from '../../local/services/server-process.ts'

/** The folder of `prometheus` and `promtool`: that on PATH, or Debian's package, unpacked once in the cache. */
export async function prometheusPrograms(): Promise<string> {
  const onPath = await findOnPath('promtool')
  if (onPath && (await findOnPath('prometheus'))) return path.dirname(onPath)
  const folder = await installInCache('prometheus-debian', console.log, (into) =>
    unpackDebian(into, async () => ['prometheus']),
  )
  return path.join(folder, 'usr/bin')
}

export interface Scraped {
  /** The ports of each job. */
  jobs: Record<string, number | undefined>
  token: string
  rules: string
  /** Where it stores what it has scraped. */
  folder: string
}

/** A Prometheus that scrapes these ports every second and evaluates the rules. */
export async function startPrometheus({ jobs, token, rules, folder }: Scraped) {
  const port = await freePort()
  const configuration = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: Object.entries(jobs).map(([job, target]) => ({
      job_name: job,
      authorization: { credentials: token },
      static_configs: [{ targets: [`127.0.0.1:${target}`] }],
    })),
  }
  const file = path.join(folder, 'prometheus.yml')
  // JSON is YAML, too.
  await writeFile(file, JSON.stringify(configuration))
  const url = `http://127.0.0.1:${port}`
  const server = await startServer(
    {
      name: 'Prometheus',
      command: path.join(await prometheusPrograms(), 'prometheus'),
      args: [
        `--config.file=${file}`,
        `--storage.tsdb.path=${path.join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=warn',
      ],
      cwd: folder,
      logFile: path.join(folder, 'prometheus.log'),
      ready: async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.status === 200,
    },
    undefined,
  )
  const get = async (called: string): Promise<Record<string, unknown>> => {
    const body: unknown = await (await fetch(`${url}/api/v1/${called}`)).json()
    if (!isJsonObject(body) || body['status'] !== 'success' || !isJsonObject(body['data']))
      throw new Error(`Prometheus answered ${called} with ${JSON.stringify(body)}`)
    return body['data']
  }
  return {
    stop: server.stop,
    /** How many series an expression has now. Throws if it is not valid. */
    async count(expression: string): Promise<number> {
      const { result } = await get(`query?query=${encodeURIComponent(expression)}`)
      return Array.isArray(result) ? result.length : 0
    },
    /** The rules as it has loaded them, with their health and their last error. */
    async rules(): Promise<{ name: string; health: string; lastError?: string }[]> {
      const { groups } = await get('rules')
      return Array.isArray(groups) ? groups.flatMap((group) => group.rules) : []
    },
  }
}
