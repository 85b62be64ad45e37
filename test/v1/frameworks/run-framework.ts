import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../../../local/services/command.ts'
import {
  nodeClients,
  nodeFrameworks,
  pythonAssistantAgents,
  pythonClient1,
  pythonFrameworks,
  pythonLlamaIndexAndLiteLlm,
} from '../../support/framework-packages.ts'
import { pythonCompiled } from '../../support/python-packages.ts'

/** What a program gets from outside. */
export type Given = {
  BASE_URL: string
  KEY: string
  MODEL: string
  CLIENT?: string
  /** A data URL. */
  PICTURE?: string
}

const limitMs = 150_000
const scripts = import.meta.dirname

/** Runs a program of this folder among its packages; answers what it printed as its last lines, each as JSON. */
async function runNode(packages: Promise<string>, script: string, given: Given, driver?: string): Promise<unknown[]> {
  // Node looks for packages beside the file and above it.
  const folder = await mkdtemp(path.join(await packages, 'run-'))
  try {
    const copy = path.join(folder, script)
    await copyFile(path.join(scripts, script), copy)
    const args = driver === undefined ? [copy] : [path.join(scripts, driver), copy]
    return printedLines(await run(process.execPath, args, { env: environment(given), timeoutMs: limitMs }))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function runPython(programs: Promise<string>, script: string, given: Given, driver?: string) {
  const python = path.join(await programs, 'python')
  const args = [driver, script].flatMap((name) => (name === undefined ? [] : [path.join(scripts, name)]))
  return printedLines(await run(python, args, { env: environment(given), timeoutMs: limitMs }))
}

/** Runs a program with each of the two interfaces, in one process. */
const nodeOnBoth = async (script: string, given: Given) =>
  onBoth(await runNode(nodeFrameworks(), script, given, 'each-interface.mjs'))
const pythonOnBoth = async (script: string, given: Given) =>
  onBoth(await runPython(pythonFrameworks(), script, given, 'each_interface.py'))

const onBoth = ([chat, responses]: unknown[]) => ({ chat, responses })

function environment(given: Given): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    ...pythonCompiled,
    PYTHONWARNINGS: 'ignore',
    // LiteLLM would fetch its list of models.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    ...given,
  }
}

function printedLines(printed: string): unknown[] {
  const lines = printed.split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line): unknown => JSON.parse(line))
}

const only = async (lines: Promise<unknown[]>) => (await lines).at(-1)

export const frameworks = {
  agentsNode: (given: Given) => nodeOnBoth('openai-agents.mjs', given),
  agentsPython: (given: Given) => pythonOnBoth('openai_agents.py', given),
  langchainNode: (given: Given) => nodeOnBoth('langchain.mjs', given),
  langchainPython: (given: Given) => pythonOnBoth('langchain_agents.py', given),
  aiSdk: (given: Given) => nodeOnBoth('ai-sdk.mjs', given),
  llamaIndex: (given: Given) => only(runPython(pythonLlamaIndexAndLiteLlm(), 'llama_index_agent.py', given)),
  liteLlm: (given: Given) => only(runPython(pythonLlamaIndexAndLiteLlm(), 'litellm_client.py', given)),
}

/** Applications of the assistants interface. */
export const assistantAgents = {
  semanticKernel: (given: Given) => only(runPython(pythonAssistantAgents(), 'semantic_kernel_assistant.py', given)),
  langchain: (given: Given) => only(runPython(pythonAssistantAgents(), 'langchain_assistant.py', given)),
  llamaIndex: (given: Given) => only(runPython(pythonAssistantAgents(), 'llama_index_assistant.py', given)),
}

/** Interpreters with the official client in each of its major versions. */
export const officialPythons = { 1: pythonClient1, 2: pythonLlamaIndexAndLiteLlm, 3: pythonFrameworks }

/** The official clients, by language and major version. */
export const officialClients = eachClient('official-client.mjs', 'official_client.py')
/** The same with threads and runs. */
export const officialThreads = eachClient('official-threads.mjs', 'official_threads.py')

type Program = (given: Given) => Promise<unknown>

function eachClient(nodeScript: string, pythonScript: string): Record<string, Program> {
  const clients: Record<string, Program> = {}
  for (const major of [4, 5, 6, 7])
    clients[`Node ${major}`] = (given) =>
      only(runNode(nodeClients(), nodeScript, { ...given, CLIENT: `openai-${major}` }))
  for (const [major, programs] of Object.entries(officialPythons))
    clients[`Python ${major}`] = (given) => only(runPython(programs(), pythonScript, given))
  return clients
}
