import { npmPackages } from './npm-packages.ts'
import { pythonPrograms } from './python-packages.ts'

/** What other people's applications are built with. Only tests use it, so none of it is a dependency of the product. */

/** The official client in each of its major versions, as `openai-4` and so on. */
const officialNode = [
  'openai-4@npm:openai@4.104.0',
  'openai-5@npm:openai@5.23.2',
  'openai-6@npm:openai@6.49.0',
  'openai-7@npm:openai@7.57.0',
]
const frameworksNode = [
  '@openai/agents@0.20.0',
  'langchain@1.5.14',
  '@langchain/core@1.4.0',
  '@langchain/langgraph@1.7.3',
  '@langchain/openai@1.6.0',
  'ai@7.0.173',
  '@ai-sdk/openai@4.0.118',
  '@ai-sdk/openai-compatible@3.0.92',
  'zod@4.6.7',
]
const frameworksPython = [
  'openai==3.57.0',
  'openai-agents==0.24.0',
  'langchain==1.5.2',
  'langchain-openai==1.7.4',
  'langgraph==1.2.24',
]
/** They do not go together with version 3 of the official client. */
const llamaIndexAndLiteLlm = ['openai==2.54.0', 'llama-index-llms-openai==0.8.3', 'litellm==1.110.2']
/** Applications of the assistants interface; the last release of LlamaIndex that has one is an old one. */
const assistantAgents = [
  'openai==3.57.0',
  'semantic-kernel==1.45.0',
  'langchain-classic==1.0.8',
  'langchain-openai==1.7.4',
  'llama-index-agent-openai==0.2.9',
]
/** LangChain's tests for those who write a class of models. */
const langchainTests = ['langchain-tests==1.1.9', 'langchain-openai==1.7.4', 'pytest==9.2.0', 'pytest-asyncio==1.5.0']
/** The proxy, which many put before several servers. */
const liteLlmProxy = ['litellm[proxy]==1.106.0']
const officialPython1 = ['openai==1.109.1']

/** The released program of the Codex CLI, in a package of its own for each platform. */
export const codexCli = () => npmPackages('codex-npm', ['@openai/codex@0.171.0'])

/** Each answers the folder that holds `node_modules`. */
export const nodeFrameworks = () => npmPackages('frameworks-npm', frameworksNode)
export const nodeClients = () => npmPackages('openai-npm', officialNode)

/** Each answers the folder of the programs of a virtual environment. */
export const pythonFrameworks = () => pythonPrograms('frameworks-python', frameworksPython)
export const pythonLlamaIndexAndLiteLlm = () => pythonPrograms('llama-index-python', llamaIndexAndLiteLlm)
export const pythonLangchainTests = () => pythonPrograms('langchain-tests', langchainTests)
export const pythonLiteLlmProxy = () => pythonPrograms('litellm', liteLlmProxy)
export const pythonClient1 = () => pythonPrograms('openai-python', officialPython1)
export const pythonAssistantAgents = () => pythonPrograms('assistants-python', assistantAgents)
