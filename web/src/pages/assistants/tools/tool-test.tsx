import { ChevronRight, FlaskConical } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { type Schemas, api, unwrap } from '../../../lib/api.ts'
import { sayingOf } from '../../../lib/error-messages.ts'
import { useSubmit } from '../../../lib/use-submit.ts'
import { assistantMessages } from '../../../texts/assistant.ts'
import { Button } from '../../../ui/button.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { type ToolSetting, isToolOf, kindOf } from './kinds.tsx'
import { ToolTrial } from './tool-trial.tsx'

const t = assistantMessages.tools

interface TestProps {
  assistantId: string
  setting: ToolSetting
  isAtOnce: boolean
  needsSaving: boolean
  /** The form of the settings: what is wrong in it is shown there. */
  formId: string
  save: () => Promise<void>
}

/** What the model would be offered: the service asks MCP servers, and reports wrong settings. Each can be called. */
export function ToolTest({ assistantId, setting, isAtOnce, needsSaving, formId, save }: TestProps) {
  const [answer, setAnswer] = useState<Schemas['AssistantDebugView']>()
  const test = useSubmit(async () => {
    const form = document.querySelector(`#${CSS.escape(formId)}`)
    if (form instanceof HTMLFormElement && !form.reportValidity()) return
    await save()
    const path = { params: { path: { assistant_id: assistantId } } }
    setAnswer(await unwrap(api.GET('/runs/debug/assistant/{assistant_id}', path)))
  })
  const isBegun = useRef(false)
  useEffect(() => {
    if (!isAtOnce || isBegun.current) return
    isBegun.current = true
    void test.submit()
  })
  const isOwn = (offered: { type: string; name: string }) => isToolOf(setting, offered)
  // Of what was saved: a changed setting may have mended it.
  const problems = needsSaving ? [] : (answer?.tool_problems.filter(isOwn) ?? [])
  const offered = answer?.tools.filter(isOwn) ?? []
  return (
    <section className="card stack-small" aria-live="polite">
      <div className="spread">
        <h3>{t.test}</h3>
        <Button size="small" busy={test.isBusy} onClick={() => void test.submit()}>
          <FlaskConical size={15} aria-hidden="true" />
          {needsSaving ? t.saveAndTest : t.test}
        </Button>
      </div>
      {answer === undefined && <p className="muted small">{t.testHelp}</p>}
      {test.problem && <Notice tone="danger">{test.problem}</Notice>}
      {answer && !test.problem && (
        <>
          {problems.map(({ problem }) => (
            <Notice key={problem} tone="danger">
              {sayingOf(problem)}
            </Notice>
          ))}
          {answer.tool_warnings.filter(isOwn).map(({ warning }) => (
            <Notice key={warning} tone="warn">
              {sayingOf(warning)}
            </Notice>
          ))}
          {(offered.length > 0 || !needsSaving) && (
            <p className="small">{offered.length === 0 ? t.testNone : t.testOk(offered.length)}</p>
          )}
          {offered.map(({ name, description, parameters }, place) => (
            <details key={name} className="tool-call" open={offered.length === 1 && place === 0}>
              <summary>
                <ChevronRight size={16} className="chevron" aria-hidden="true" />
                <code className="truncate">{name}</code>
                <span className="grow truncate">{description}</span>
              </summary>
              <div className="tool-body">
                {kindOf(setting.type).isElsewhere ? (
                  <p className="muted">{t.clientHelp}</p>
                ) : (
                  <ToolTrial assistantId={assistantId} name={name} parameters={parameters} save={save} />
                )}
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
