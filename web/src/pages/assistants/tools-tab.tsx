import { useQuery } from '@tanstack/react-query'
import { ChevronRight, FlaskConical, Plus, Trash2 } from 'lucide-react'
import { useId, useState } from 'react'
import { type Schemas, api, configKey, keys, unwrap } from '../../lib/api.ts'
import type { DraftState } from '../../lib/draft.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Problem, Skeleton } from '../../ui/states.tsx'
import { AskableField } from './askable-field.tsx'
import { SchemaForm } from './schema-form.tsx'
import { ToolTrial } from './tool-trial.tsx'

const t = texts.tools
type ToolSetting = Schemas['ToolSetting']
type Debug = Schemas['AssistantDebugView']

/** The tools of an assistant, each with a form made from the schema of its settings. */
export function ToolsTab({ assistantId, state }: { assistantId: string; state: DraftState }) {
  const catalogue = useQuery({ queryKey: keys.tools, queryFn: () => unwrap(api.GET('/tools/')) })
  const id = useId()
  const tools = state.draft.config[configKey.tools] ?? []
  const setTools = (next: ToolSetting[]) => state.setConfig(configKey.tools, next.length === 0 ? undefined : next)
  const change = (place: number, part: Partial<ToolSetting>) =>
    setTools(tools.map((tool, other) => (other === place ? withoutEmpty({ ...tool, ...part }) : tool)))
  if (catalogue.isPending) return <Skeleton lines={5} />
  if (catalogue.isError) return <Problem error={catalogue.error} onRetry={() => void catalogue.refetch()} />
  return (
    <div className="stack">
      <p className="muted">{t.text}</p>
      {tools.length === 0 && <Notice>{t.none}</Notice>}
      {tools.map((tool, place) => {
        const described = catalogue.data.find(({ type }) => type === tool.type)
        return (
          <section key={place} className="card form" aria-labelledby={`${id}-${place}`}>
            <div className="card-title">
              <h2 id={`${id}-${place}`}>{t.names[tool.type]}</h2>
              <IconButton
                label={t.remove}
                icon={<Trash2 size={16} />}
                onClick={() => setTools(tools.filter((_, other) => other !== place))}
              />
            </div>
            <p className="muted small">{described?.description}</p>
            {described?.available === false && <Notice tone="warn">{t.unavailable}</Notice>}
            {tool.type !== 'mcp' && (
              <TextField
                label={`${t.nameOf} (${texts.optional})`}
                help={t.nameHelp}
                value={tool.name ?? ''}
                placeholder={tool.type}
                onValue={(name) => change(place, { name })}
              />
            )}
            {tool.type === 'assistant' ? (
              <AskableField
                assistantId={assistantId}
                value={tool.config ?? {}}
                onValue={(config) => change(place, { config })}
              />
            ) : (
              <SchemaForm
                schema={described?.config_schema ?? {}}
                value={tool.config ?? {}}
                onValue={(config) => change(place, { config })}
              />
            )}
          </section>
        )
      })}
      <div className="row">
        {catalogue.data
          .filter(({ type }) => type !== 'retrieval')
          .map(({ type }) => (
            <Button key={type} onClick={() => setTools([...tools, { type }])}>
              <Plus size={16} aria-hidden="true" />
              {t.names[type]}
            </Button>
          ))}
      </div>
      <TryIt assistantId={assistantId} state={state} />
    </div>
  )
}

function withoutEmpty({ type, name, config }: ToolSetting): ToolSetting {
  return { type, ...(name && { name }), ...(config && Object.keys(config).length > 0 && { config }) }
}

/** The effective tools: the service asks MCP servers, and reports wrong settings. Each can be called. */
function TryIt({ assistantId, state }: { assistantId: string; state: DraftState }) {
  const [answer, setAnswer] = useState<Debug>()
  const save = async () => {
    if (state.isChanged) await state.save()
  }
  const form = useSubmit(async () => {
    await save()
    const path = { params: { path: { assistant_id: assistantId } } }
    setAnswer(await unwrap(api.GET('/runs/debug/assistant/{assistant_id}', path)))
  })
  return (
    <section className="card stack-small" aria-live="polite">
      <div className="spread">
        <div>
          <h2>{t.test}</h2>
          <p className="muted small">{t.testHelp}</p>
        </div>
        <Button busy={form.isBusy} onClick={() => void form.submit()}>
          <FlaskConical size={16} aria-hidden="true" />
          {t.test}
        </Button>
      </div>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      {answer && !form.problem && (
        <>
          {answer.tool_problems.map(({ name, type, problem }) => (
            <Notice key={name + problem} tone="danger">
              {t.problem(name || type, problem)}
            </Notice>
          ))}
          {answer.tool_warnings.map(({ name, type, warning }) => (
            <Notice key={name + warning} tone="warn">
              {t.problem(name || type, warning)}
            </Notice>
          ))}
          <p>{answer.tools.length === 0 ? t.testNone : t.testOk(answer.tools.length)}</p>
          {answer.tools.map(({ name, description, parameters }) => (
            <details key={name} className="tool-call">
              <summary>
                <ChevronRight size={16} className="chevron" aria-hidden="true" />
                <code>{name}</code>
                <span className="grow truncate muted small">{description}</span>
              </summary>
              <div className="tool-body">
                <ToolTrial assistantId={assistantId} name={name} parameters={parameters} save={save} />
                <details className="small">
                  <summary>{t.parameters}</summary>
                  <pre className="code-block" role="region" tabIndex={0} aria-label={t.parameters}>
                    {JSON.stringify(parameters, undefined, 2)}
                  </pre>
                </details>
              </div>
            </details>
          ))}
        </>
      )}
    </section>
  )
}
