import { useQuery } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import { api, unwrap } from '../../lib/api.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loading } from '../../ui/states.tsx'

const t = assistantMessages.debug
const pretty = (value: unknown) => JSON.stringify(value, undefined, 2)

/** The configuration that a run of this assistant would use. */
export function DebugTab({ assistantId }: { assistantId: string }) {
  const view = useQuery({
    queryKey: ['debug', assistantId],
    staleTime: 0,
    queryFn: () =>
      unwrap(api.GET('/runs/debug/assistant/{assistant_id}', { params: { path: { assistant_id: assistantId } } })),
  })
  if (!view.isSuccess) return <Loading query={view} lines={6} />
  const { resolved, config, tools, tool_problems: problems, model_account: account } = view.data
  return (
    <div className="stack">
      <div className="spread">
        <p className="muted">{t.text}</p>
        <Button busy={view.isFetching} onClick={() => void view.refetch()}>
          <RefreshCw size={15} aria-hidden="true" />
          {t.refresh}
        </Button>
      </div>
      <Notice tone={account === 'none' ? 'warn' : 'plain'}>{t.account[account]}</Notice>
      {problems.map(({ name, type, problem }) => (
        <Notice key={name + problem} tone="danger">
          {assistantMessages.tools.problem(name || type, problem)}
        </Notice>
      ))}
      <section className="stack-small">
        <h2>{t.tools}</h2>
        {tools.length === 0 ? (
          <p className="muted">{assistantMessages.tools.testNone}</p>
        ) : (
          <CodeBlock text={pretty(tools)} label={t.tools} />
        )}
      </section>
      <section className="stack-small">
        <h2>{t.resolved}</h2>
        <CodeBlock text={pretty(resolved)} label={t.resolved} />
      </section>
      <section className="stack-small">
        <h2>{t.config}</h2>
        <CodeBlock text={pretty(config)} label={t.config} />
      </section>
    </div>
  )
}
