import { parseForeignJson } from '../domain/foreign-json.ts'
import type { FoundServer } from '../domain/model-catalog.ts'
import { readServedModels } from '../domain/served-models.ts'

interface Candidate {
  name: string
  baseUrl: string
}

/** Where the usual model servers listen. */
const usualServers: Candidate[] = [
  { name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
  { name: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1' },
  { name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
]

/** For all of them together: nobody wants to wait for servers that are not there. */
const limitMs = 2_000
const maxBytes = 1024 * 1024

/** Whether nothing names a model, so that it is worth looking for one. */
export function wantsDiscovery(env: NodeJS.ProcessEnv): boolean {
  const isSet =
    env.OPENAI_API_KEY || env.OPENAI_BASE_URL || env['OPENAI_API_KEY_FILE'] || env['MODELS'] || env['MODELS_FILE']
  return !isSet && env['MODEL_DISCOVERY']?.toLowerCase() !== 'off'
}

/** The model servers that answer on this machine, or at the addresses of `MODEL_DISCOVERY`, in their order. */
export async function findModelServers(env: NodeJS.ProcessEnv, ownPort: number): Promise<FoundServer[]> {
  const signal = AbortSignal.timeout(limitMs)
  const found = await Promise.all(
    candidatesOf(env['MODEL_DISCOVERY'])
      .filter(({ baseUrl }) => Number(new URL(baseUrl).port) !== ownPort)
      .map((candidate) => modelsAt(candidate, signal)),
  )
  return found.filter((server) => server !== undefined)
}

function candidatesOf(given: string | undefined): Candidate[] {
  if (!given?.trim()) return usualServers
  return given.split(',').flatMap((entry) => {
    const baseUrl = entry.trim().replace(/\/+$/, '')
    return URL.canParse(baseUrl) ? [{ name: new URL(baseUrl).host, baseUrl }] : []
  })
}

/** Another program on the port is no model server. */
async function modelsAt({ name, baseUrl }: Candidate, signal: AbortSignal): Promise<FoundServer | undefined> {
  try {
    const response = await fetch(`${baseUrl}/models`, { signal, redirect: 'error' })
    if (!response.ok || response.body === null) return undefined
    const models = readServedModels(parseForeignJson(await textOf(response.body), { bytes: maxBytes }))
    return models === undefined || models.length === 0 ? undefined : { name, baseUrl, models }
  } catch {
    return undefined
  }
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new Error('the answer is too long')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
