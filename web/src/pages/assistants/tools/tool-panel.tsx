import { useBlocker } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { type JsonObject, asList } from '../../../lib/json.ts'
import { say } from '../../../lib/toasts.ts'
import { useSubmit } from '../../../lib/use-submit.ts'
import { assistantMessages } from '../../../texts/assistant.ts'
import { texts } from '../../../texts/index.ts'
import { Button } from '../../../ui/button.tsx'
import { ConfirmDialog } from '../../../ui/dialog.tsx'
import { CheckField, TextField } from '../../../ui/field.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { ModalPanel } from '../../../ui/side-panel.tsx'
import { ToolForm, type ToolSetting, kindOf, titleOf } from './kinds.tsx'
import { McpLogin } from './mcp-login.tsx'
import { ToolTest } from './tool-test.tsx'

const t = assistantMessages.tools

interface ToolPanelProps {
  assistantId: string
  setting: ToolSetting
  isNew: boolean
  /** JSON Schema of its settings. */
  schema: JsonObject
  testsAtOnce: boolean
  onSave: (setting: ToolSetting) => Promise<unknown>
  onClose: () => void
}

const placeOf = ({ pathname, search }: { pathname: string; search: object }) => pathname + JSON.stringify(search)

/** The settings of one tool, and its test. Changes that are not saved are asked about. */
export function ToolPanel(props: ToolPanelProps) {
  const { assistantId, setting, isNew, schema, testsAtOnce, onSave, onClose } = props
  const [draft, setDraft] = useState(setting)
  const [saved, setSaved] = useState(setting)
  const [isStored, setStored] = useState(!isNew)
  const [isClosing, setClosing] = useState(false)
  const openHosts = useConsent()
  const formId = useId()
  const { Icon, text, isNamedInside, isElsewhere } = kindOf(draft.type)
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved)
  const leaving = useBlocker({
    // What Back closes on a phone asks by itself.
    shouldBlockFn: ({ current, next }) => isChanged && placeOf(current) !== placeOf(next),
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  })
  const save = async () => {
    if (isStored && !isChanged) return
    const isOpened = callsAnyHost(draft) && !(isStored && callsAnyHost(saved))
    if (isOpened && !(await openHosts.ask())) throw new Error(t.openHosts.declined)
    // What may call any host asks before each call, unless its owner says otherwise later.
    const next = isOpened && draft.ask === undefined ? { ...draft, ask: true } : draft
    await onSave(next)
    setStored(true)
    setDraft(next)
    setSaved(next)
  }
  const form = useSubmit(async () => {
    await save()
    onClose()
    say(texts.saved)
  })
  const title = isNew && titleOf(draft) === t.names[draft.type] ? t.newTitle(t.names[draft.type]) : titleOf(draft)
  const login = draft.type === 'mcp' && !hasKey(draft) && (
    <McpLogin assistantId={assistantId} url={urlOf(draft)} formId={formId} save={save} />
  )
  // A server of the gallery needs nothing but the login.
  const isPreset = isNew && urlOf(setting) !== ''
  const hasFields = Object.keys(schema['properties'] ?? {}).length > 0
  return (
    <ModalPanel
      label={title}
      head={
        <>
          <Icon size={18} aria-hidden="true" />
          <div className="grow">
            <h2 className="side-title truncate" title={title}>
              {title}
            </h2>
            {titleOf(draft) !== t.names[draft.type] && (
              <div className="muted small truncate">{t.names[draft.type]}</div>
            )}
          </div>
        </>
      }
      onClose={() => (isChanged ? setClosing(true) : onClose())}
    >
      <div className="side-body">
        <div className="stack">
          {text !== undefined && <p className="muted small">{text}</p>}
          {isPreset && login}
          <form id={formId} className="form" onSubmit={form.onSubmit}>
            {!isNamedInside && (
              <TextField
                label={`${t.nameOf} (${texts.optional})`}
                help={t.nameHelp}
                value={draft.name ?? ''}
                placeholder={draft.type}
                onValue={(name) => setDraft({ ...draft, name })}
              />
            )}
            {hasFields ? (
              <ToolForm
                type={draft.type}
                assistantId={assistantId}
                schema={schema}
                value={draft.config ?? {}}
                onValue={(config) => setDraft({ ...draft, config })}
              />
            ) : (
              <p className="muted small">{t.noSettings}</p>
            )}
            {!isElsewhere && (
              <CheckField
                label={t.ask}
                help={t.askHelp}
                checked={draft.ask === true}
                onValue={(ask) => setDraft({ ...draft, ask })}
              />
            )}
          </form>
          {!isPreset && login}
          <ToolTest
            assistantId={assistantId}
            setting={draft}
            isAtOnce={testsAtOnce}
            needsSaving={isChanged || !isStored}
            formId={formId}
            save={save}
          />
        </div>
      </div>
      <footer className="side-foot">
        {form.problem && (
          <div className="grow">
            <Notice tone="danger">{form.problem}</Notice>
          </div>
        )}
        <Button onClick={() => (isChanged ? setClosing(true) : onClose())}>{texts.cancel}</Button>
        <Button type="submit" form={formId} look="primary" busy={form.isBusy}>
          {texts.save}
        </Button>
      </footer>
      {openHosts.answer && (
        <ConfirmDialog
          title={t.openHosts.title}
          text={t.openHosts.text}
          action={t.openHosts.action}
          onConfirm={async () => openHosts.answer?.(true)}
          onClose={() => openHosts.answer?.(false)}
        />
      )}
      {(isClosing || leaving.status === 'blocked') && (
        <ConfirmDialog
          title={texts.discardTitle}
          text={t.discardText(titleOf(draft))}
          action={texts.discard}
          onConfirm={async () => {
            if (leaving.status === 'blocked') leaving.proceed()
            else onClose()
          }}
          onClose={() => {
            setClosing(false)
            leaving.reset?.()
          }}
        />
      )}
    </ModalPanel>
  )
}

const callsAnyHost = ({ type, config }: ToolSetting): boolean =>
  type === 'http_request' && asList(config?.['allowed_hosts']).length === 0

/** Whether the owner has given a key of his own. */
const hasKey = ({ config }: ToolSetting): boolean =>
  Object.keys(config?.['headers'] ?? {}).some((name) => name.toLowerCase() === 'authorization')

const urlOf = ({ config }: ToolSetting): string => (typeof config?.['url'] === 'string' ? config['url'] : '')

/** A question to the person in the middle of an action: `answer` is there while it is open. */
function useConsent() {
  const [waiting, setWaiting] = useState<{ answer: (isAgreed: boolean) => void }>()
  const ask = () =>
    new Promise<boolean>((resolve) => {
      setWaiting({
        answer: (isAgreed) => {
          setWaiting(undefined)
          resolve(isAgreed)
        },
      })
    })
  return { ask, answer: waiting?.answer }
}
