import { renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Writes the addresses and processes of the running service to `{dataDir}/addresses.json`, for scripts such as the
 * quickstart, because its ports may be random.
 */
export function createAddresses(dataDir: string) {
  const file = path.join(dataDir, 'addresses.json')
  const processes: Record<string, number> = {}
  let addresses: Record<string, string | undefined> | undefined

  const write = () => {
    if (!addresses) return
    // Written in one step, so that readers never see half of it.
    writeFileSync(`${file}.new`, `${JSON.stringify({ ...addresses, processes }, null, 2)}\n`)
    renameSync(`${file}.new`, file)
  }
  return {
    /** Records a process that was started, for the first time or again. */
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
