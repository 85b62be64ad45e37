import { Search } from 'lucide-react'
import { useState } from 'react'
import { type Schemas, api, unwrap } from '../../lib/api.ts'
import { pagesOf } from '../../lib/places.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PassageText } from '../../ui/passage-text.tsx'

const t = texts.knowledge

/** The passages that `retrieval` would give the model for a query. */
export function PassageSearch({ assistantId }: { assistantId: string }) {
  const [query, setQuery] = useState('')
  const [found, setFound] = useState<Schemas['PassageList']>()
  const form = useSubmit(async () => {
    const path = { params: { path: { aid: assistantId } } }
    setFound(await unwrap(api.POST('/assistants/{aid}/files/search', { ...path, body: { query } })))
  })
  return (
    <section className="card stack-small">
      <h2>{t.search}</h2>
      <p className="muted small">{t.searchHelp}</p>
      <form className="search-form" onSubmit={form.onSubmit}>
        <TextField
          label={t.searchPlaceholder}
          type="search"
          required
          maxLength={2000}
          value={query}
          onValue={setQuery}
        />
        <Button type="submit" busy={form.isBusy}>
          <Search size={16} aria-hidden="true" />
          {texts.search}
        </Button>
      </form>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      <div aria-live="polite" className="stack-small">
        {found?.passages.length === 0 && <p className="muted">{t.searchNone}</p>}
        {found?.passages.map((passage) => (
          <div key={passage.file_id + passage.text} className="stack-tight">
            <div className="muted small">
              {[passage.file_name, pagesOf(passage), passage.heading, ...whyFound(passage)].filter(Boolean).join(' · ')}
            </div>
            <div className="passage small">
              <PassageText {...passage} />
            </div>
          </div>
        ))}
      </div>
    </section>
  )
}

function whyFound({ score, by_meaning: meaning, by_words: words }: Schemas['PassageList']['passages'][number]) {
  return [
    texts.chat.score(score),
    meaning === undefined ? undefined : t.byMeaning(meaning),
    words === undefined ? undefined : t.byWords(words),
  ]
}
