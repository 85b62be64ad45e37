import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../local/services/ports.ts'
import { pythonPrograms } from '../test/support/python-packages.ts'
import { processOf } from './processes.ts'

const version = '1.106.0'
const startLimitMs = 180_000
/** It refuses to start without one. */
const masterKey = 'sk-bench-4f1d9c0e7ab2468893d5'

/**
 * A LiteLLM proxy with one worker, its default, in front of the bare model: the alternative without durability. It
 * is installed from PyPI into the cache once. Undefined without Python or PyPI: the other figures are still
 * measured.
 */
export async function startGateway(modelUrl: string, log: (line: string) => void) {
  if (process.env['BENCH_GATEWAY'] === 'false') return undefined
  const programs = await pythonPrograms('litellm', [`litellm[proxy]==${version}`]).catch((error: unknown) => {
    log(`> no LiteLLM: ${String(error)}`)
    return undefined
  })
  if (programs === undefined) return undefined
  const home = await mkdtemp(join(tmpdir(), 'assistant-gateway-'))
  const config = {
    model_list: [
      { model_name: 'bare', litellm_params: { model: 'openai/bare', api_base: modelUrl, api_key: 'bench' } },
    ],
    general_settings: {},
  }
  // JSON is YAML.
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config))
  const port = await freePort()
  const child = spawn(
    join(programs, 'litellm'),
    ['--config', join(home, 'config.yaml'), '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'],
    {
      cwd: home,
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        LITELLM_LOG: 'ERROR',
        LITELLM_MASTER_KEY: masterKey,
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      },
      stdio: 'ignore',
    },
  )
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
    await rm(home, { recursive: true, force: true })
  }
  process.once('exit', () => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  const limit = performance.now() + startLimitMs
  while (!(await isThere(`${url}/health/liveliness`))) {
    if (child.exitCode !== null || performance.now() > limit) {
      log('> no LiteLLM: it did not start')
      await stop()
      return undefined
    }
    await pause(200)
  }
  return { url, key: masterKey, process: processOf(child.pid ?? 0), stop }
}

async function isThere(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  )
}
