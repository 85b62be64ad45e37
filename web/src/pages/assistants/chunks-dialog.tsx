import { useInfiniteQuery } from '@tanstack/react-query'
import { type KnowledgeFile, api, unwrap } from '../../lib/api.ts'
import { pagesOf } from '../../lib/places.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { PassageText } from '../../ui/passage-text.tsx'
import { Loading } from '../../ui/states.tsx'

const t = texts.knowledge
const chunksPage = 20

/** All passages of a file, in pages. */
export function ChunksDialog({
  assistantId,
  file,
  onClose,
}: {
  assistantId: string
  file: KnowledgeFile
  onClose: () => void
}) {
  const chunks = useInfiniteQuery({
    queryKey: ['chunks', file.id],
    initialPageParam: 0,
    queryFn: ({ pageParam: offset }) =>
      unwrap(
        api.GET('/assistants/{aid}/files/{file_id}/chunks', {
          params: { path: { aid: assistantId, file_id: file.id }, query: { limit: chunksPage, offset } },
        }),
      ),
    getNextPageParam: (last, pages) => {
      const shown = pages.reduce((sum, page) => sum + page.chunks.length, 0)
      return shown < last.total && last.chunks.length > 0 ? shown : undefined
    },
  })
  const shown = chunks.data?.pages.flatMap((page) => page.chunks) ?? []
  return (
    <Dialog title={t.chunksTitle(file.name)} onClose={onClose} wide>
      <Loading query={chunks} lines={5} />
      {chunks.data && <p className="muted small">{t.showing(shown.length, chunks.data.pages[0]?.total ?? 0)}</p>}
      <ol className="stack-small">
        {shown.map((chunk) => (
          <li key={chunk.position} className="stack-tight">
            <div className="muted small">
              {[`#${chunk.position + 1}`, pagesOf(chunk), chunk.heading, texts.chat.tokens(chunk.tokens)]
                .filter(Boolean)
                .join(' · ')}
            </div>
            <div className="passage small">
              <PassageText {...chunk} />
            </div>
          </li>
        ))}
      </ol>
      {chunks.hasNextPage && (
        <Button busy={chunks.isFetchingNextPage} onClick={() => void chunks.fetchNextPage()}>
          {t.showMore}
        </Button>
      )}
    </Dialog>
  )
}
