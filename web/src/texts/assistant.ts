import type english from './en/assistant.json'
import { loadTexts } from './load.ts'

/** The texts of the page of an assistant, in the language of the page. */
export const assistantMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/assistant.json', { import: 'default' }),
  {
    assistantFiles: { applyText: ['name'] },
    tools: {
      summary: { retrieval: ['passages'], assistants: ['amount'], someTools: ['amount'], more: ['shown', 'others'] },
      askOf: ['name'],
      testOf: ['name'],
      removed: ['name'],
      removeText: ['name'],
      newTitle: ['name'],
      discardText: ['name'],
      problem: ['name', 'problem'],
      testOk: ['amount'],
      call: ['name'],
      login: { connected: ['date'], done: ['host'] },
      outcomes: { answered: ['time'], failed: ['time'], refused: [] },
    },
    web: {
      pages: ['amount'],
      leftOut: ['amount'],
      read: ['time'],
      progress: ['url'],
      deleteText: ['url', 'pages'],
      deleted: ['url'],
    },
    reembedding: {
      sized: ['name', 'amount'],
      builtIn: ['name', 'amount'],
      failed: ['reason'],
      model: ['now'],
      models: ['before', 'now'],
      progress: ['done', 'all'],
    },
    testChat: { name: ['assistant'] },
    modelAccount: { urlHelp: ['example'] },
  },
)
