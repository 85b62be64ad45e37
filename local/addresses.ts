import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Says in `{dataDir}/addresses.json` where the running service is, for scripts such as the quickstart:
 * free ports are known to nobody else. Returns the function that takes the file away.
 */
export function writeAddresses(dataDir: string, { port, env }: { port: number; env: NodeJS.ProcessEnv }): () => void {
  const file = path.join(dataDir, 'addresses.json')
  const addresses = { api: `http://127.0.0.1:${port}`, mailbox: env.MAILBOX_URL, temporal_ui: env.TEMPORAL_UI_URL }
  writeFileSync(file, `${JSON.stringify(addresses, null, 2)}\n`)
  return () => rmSync(file, { force: true })
}
