import type english from './en/insights.json'
import { loadTexts } from './load.ts'

/** The texts of feedback and of the chats of visitors in the language of the page. */
export const insightMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/insights.json', { import: 'default' }),
  {
    open: { reasons: { not_found: ['count'], failed: ['count'], disliked: ['count'] } },
    chats: { answers: ['count'], failed: ['count'] },
  },
)
