import { FileSearch, Search } from 'lucide-react'
import { Suspense, useState } from 'react'
import { type Schemas, api, unwrap, useFiles } from '../../lib/api.ts'
import { percentOf } from '../../lib/format.ts'
import { pagesOf, placeOf } from '../../lib/places.ts'
import { bestSentence } from '../../lib/sentences.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Notice } from '../../ui/notice.tsx'
import { PassageText } from '../../ui/passage-text.tsx'
import { Skeleton } from '../../ui/states.tsx'

const t = texts.knowledge
const Original = lazyPart(async () => ({ default: (await import('../chat/sources/original.tsx')).Original }))

type Found = Schemas['PassageList']['passages'][number]

/** The passages that `retrieval` would give the model for a query. */
export function PassageSearch({ assistantId }: { assistantId: string }) {
  const [query, setQuery] = useState('')
  const [found, setFound] = useState<Schemas['PassageList'] & { query: string }>()
  const [shown, setShown] = useState<Found>()
  const form = useSubmit(async () => {
    const path = { params: { path: { aid: assistantId } } }
    const { passages } = await unwrap(api.POST('/assistants/{aid}/files/search', { ...path, body: { query } }))
    setFound({ passages, query })
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
            <div className="row">
              <div className="muted small grow">
                {[passage.file_name, pagesOf(passage), passage.heading, ...whyFound(passage)]
                  .filter(Boolean)
                  .join(' · ')}
              </div>
              <IconButton label={t.showInFile} icon={<FileSearch size={16} />} onClick={() => setShown(passage)} />
            </div>
            <div className="passage small">
              <PassageText {...passage} />
            </div>
          </div>
        ))}
      </div>
      {found && shown && (
        <InFile assistantId={assistantId} passage={shown} query={found.query} onClose={() => setShown(undefined)} />
      )}
    </section>
  )
}

interface InFileProps {
  assistantId: string
  passage: Found
  query: string
  onClose: () => void
}

/** A passage in the page of its file, with the sentence marked that fits the question best. */
function InFile({ assistantId, passage, query, onClose }: InFileProps) {
  const files = useFiles(assistantId)
  const { text: quote } = bestSentence(passage, query)
  const page = passage.pages?.findLast(({ sentences: [begin = 0] }) => begin <= passage.text.indexOf(quote))?.page
  const source = { number: 1, passage, page: page ?? passage.page, quote }
  return (
    <Dialog title={[passage.file_name, placeOf(source)].filter(Boolean).join(', ')} onClose={onClose} wide>
      <Suspense fallback={<Skeleton lines={8} />}>
        <Original assistantId={assistantId} source={source} files={files} />
      </Suspense>
    </Dialog>
  )
}

function whyFound({ score, by_meaning: meaning, by_words: words, by_name: name }: Found) {
  return [
    texts.chat.score(percentOf(score)),
    meaning === undefined ? undefined : t.byMeaning(percentOf(meaning)),
    words === undefined ? undefined : t.byWords(percentOf(words)),
    name === undefined ? undefined : t.byName(percentOf(name)),
  ]
}
