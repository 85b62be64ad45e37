import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { pythonPrograms } from '../../support/python-packages.ts'

/** llama.cpp with its HTTP server, compiled, and what writes its files of models. */
const packages = ['xllamacpp==2026.10.11549', 'gguf==0.19.0']

/** llama.cpp's own server, with a tiny model of random weights that is written to `file`. */
export async function startLlamaServer(file: string, use: 'chat' | 'embeddings') {
  const python = path.join(await pythonPrograms('dialects', packages), 'python')
  const server: ChildProcess = spawn(python, [path.join(import.meta.dirname, 'llama_server.py'), file, use], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  if (server.stdout === null) throw new Error('the server has no output')
  const [address] = await Promise.race([
    once(createInterface(server.stdout), 'line'),
    ended.then(([code]) => Promise.reject(new Error(`llama.cpp's server ended with ${code}`))),
  ])
  return {
    url: `${address}`,
    /** At once, as a crash does. */
    async kill(): Promise<void> {
      server.kill('SIGKILL')
      await ended
    },
  }
}
