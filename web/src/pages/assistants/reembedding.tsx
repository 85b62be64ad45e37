import { useQuery } from '@tanstack/react-query'
import { api, keys, queryClient, unwrap } from '../../lib/api.ts'
import { useMembership } from '../../lib/membership.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ProgressBar } from '../../ui/states.tsx'

const t = assistantMessages.reembedding
/** How often the progress is read. */
const everyMs = 2000
const tones = { outdated: 'warn', running: 'plain', failed: 'danger' } as const

/**
 * Says that the service embeds with another model than the one that the files were embedded with, and embeds them
 * anew. Shows nothing while all vectors are of the current model, or without an embedding model.
 */
export function Reembedding({ assistantId }: { assistantId: string }) {
  const path = { params: { path: { aid: assistantId } } }
  const queryKey = keys.reembedding(assistantId)
  const { data } = useQuery({
    queryKey,
    retry: false,
    queryFn: () => unwrap(api.GET('/assistants/{aid}/reembedding', path)),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? everyMs : false),
  })
  const canEdit = useMembership().may('editor')
  const start = useSubmit(async () => {
    queryClient.setQueryData(queryKey, await unwrap(api.POST('/assistants/{aid}/reembedding', path)))
  })
  if (data === undefined || data.status === 'current') return undefined
  const { status, chunks, chunks_done: done } = data
  return (
    <Notice tone={tones[status]}>
      <div className="stack-small">
        <div>{status === 'failed' ? t.failed(data.error ?? '') : t[status]}</div>
        <div className="small">
          {data.model === undefined ? t.model(data.configured_model) : t.models(data.model, data.configured_model)}
        </div>
        {status === 'running' ? (
          <ProgressBar value={chunks === 0 ? 1 : done / chunks} label={t.progress(done, chunks)} />
        ) : canEdit ? (
          <div>
            <Button size="small" busy={start.isBusy} onClick={() => void start.submit()}>
              {status === 'failed' ? t.continue : t.start}
            </Button>
          </div>
        ) : undefined}
        {start.problem && <div className="field-error">{start.problem}</div>}
      </div>
    </Notice>
  )
}
