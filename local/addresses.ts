import { renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Says in `{dataDir}/addresses.json` where the running service is and which processes it has, for
 * scripts such as the quickstart: free ports are known to nobody else.
 */
export function createAddresses(dataDir: string) {
  const file = path.join(dataDir, 'addresses.json')
  const processes: Record<string, number> = {}
  let addresses: Record<string, string | undefined> | undefined

  const write = () => {
    if (!addresses) return
    // Whoever reads it finds all of it.
    writeFileSync(`${file}.new`, `${JSON.stringify({ ...addresses, processes }, null, 2)}\n`)
    renameSync(`${file}.new`, file)
  }
  return {
    /** Notes a process that was started, for the first time or again. */
    noteProcess(name: string, pid: number | undefined): void {
      const key = name.replace(/^The /, '').replaceAll(' ', '_').toLowerCase()
      if (pid !== undefined) processes[key] = pid
      write()
    },
    publish({ port, env }: { port: number; env: NodeJS.ProcessEnv }): void {
      addresses = { api: `http://127.0.0.1:${port}`, mailbox: env.MAILBOX_URL, temporal_ui: env.TEMPORAL_UI_URL }
      write()
    },
    remove(): void {
      addresses = undefined
      rmSync(file, { force: true })
    },
  }
}
