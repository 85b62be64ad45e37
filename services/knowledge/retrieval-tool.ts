import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Tool } from '../tools/tool.ts'
import { isOfModel } from './embedding-model.ts'
import { type RetrieveDeps, retrieve } from './retrieve.ts'

export const retrievalPassages = 5
const maxQueryCharacters = 2000
const citingPages =
  'Cite the page of the sentence that you use. In a passage on several pages, `pages` says with which words each page begins.'
const foundByWordsOnly =
  'The files were embedded with another model than the server uses now. Until they have been embedded anew, many passages are found only if they contain words of the query, and with some vector stores not at all.'

/**
 * The tool with which a model searches the assistant's files; undefined if none is ready. Its result is JSON,
 * `{passages: [{file_name, page?, last_page?, heading?, text, pages?, score}]}`, so that the model can cite each sentence
 * by file and page or heading.
 */
export async function createRetrievalTool(
  deps: RetrieveDeps & { assistantConfigs: Pick<AssistantConfigs, 'settingsOf'> },
  assistant: AssistantRecord,
  name: string,
): Promise<Tool | undefined> {
  if (assistant.has_files === false) return undefined
  const { files } = deps.collections
  const ready = { assistant_id: assistant._id, status: 'ready', chunks: { $gt: 0 } } as const
  if ((await files.exists(ready)) === null) return undefined
  const { retrievalDescription } = deps.assistantConfigs.settingsOf(assistant)
  return {
    type: 'retrieval',
    name,
    description: retrievalDescription,
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, description: 'What to look for, in the words that the files may use.' },
      },
      required: ['query'],
      additionalProperties: false,
    },
    safeToRepeat: true,
    timeoutMs: 30_000,
    async execute(args, { signal }) {
      const query = typeof args['query'] === 'string' ? args['query'].slice(0, maxQueryCharacters) : ''
      const passages = await retrieve(deps, { assistant, query, limit: retrievalPassages }, signal)
      const notice = isOfModel(assistant, deps.embedder.model) ? {} : { notice: foundByWordsOnly }
      const citing = passages.some(({ pages = [] }) => pages.length > 1) ? { citing: citingPages } : {}
      return JSON.stringify({ passages, ...citing, ...notice })
    },
  }
}
