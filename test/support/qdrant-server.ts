import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { pythonCompiled, pythonPrograms } from './python-packages.ts'

/** Qdrant's REST API on data in memory: see `qdrant_server.py`. */
export async function startQdrantServer({ apiKey }: { apiKey: string }) {
  const python = path.join(await pythonPrograms('qdrant', ['qdrant-client==1.20.0']), 'python')
  const server = spawn(python, [path.join(import.meta.dirname, 'qdrant_server.py'), apiKey], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] ?? '', ...pythonCompiled, PYTHONWARNINGS: 'ignore' },
  })
  const exited = once(server, 'exit')
  const first = await Promise.race([once(createInterface(server.stdout), 'line'), exited])
  const port = Number(first[0])
  if (server.exitCode !== null || !Number.isInteger(port)) throw new Error('the Qdrant server did not start')
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: async () => {
      server.stdin.end()
      await exited
    },
  }
}
