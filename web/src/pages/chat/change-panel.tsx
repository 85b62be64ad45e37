import { useQuery } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { type Schemas, api, unwrap } from '../../lib/api.ts'
import type { JsonObject } from '../../lib/json.ts'
import { toolTitle } from '../../lib/tool-title.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { ArgumentsForm, useArguments } from '../../ui/arguments-form.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { focusFirstField } from '../../ui/modal.ts'
import { Notice } from '../../ui/notice.tsx'
import { ModalPanel } from '../../ui/side-panel.tsx'
import { Skeleton } from '../../ui/states.tsx'

const t = texts.chat

interface ChangeProps {
  assistantId: string
  call: Schemas['ToolCall']
  onRun: (args: JsonObject) => Promise<void>
  onClose: () => void
}

/** Changes the arguments of a call that waits, in the form of its tool. */
export function ChangePanel({ assistantId, call, onRun, onClose }: ChangeProps) {
  const title = t.changeTitle(toolTitle(call.name))
  const [isClosing, setClosing] = useState(false)
  const formId = useId()
  const tools = useQuery({
    queryKey: ['offered-tools', assistantId],
    queryFn: async () => {
      const path = { params: { path: { assistant_id: assistantId } } }
      return (await unwrap(api.GET('/runs/debug/assistant/{assistant_id}', path))).tools
    },
  })
  const fields = useRef<HTMLFormElement>(null)
  const { isPending } = tools
  useEffect(() => {
    if (!isPending) focusFirstField(fields.current)
  }, [isPending])
  const state = useArguments(call.args)
  const form = useSubmit(async () => {
    await onRun(state.read())
    onClose()
  })
  const isChanged = state.json !== undefined || JSON.stringify(state.args) !== JSON.stringify(call.args)
  const close = () => (isChanged ? setClosing(true) : onClose())
  return (
    <ModalPanel
      label={title}
      head={
        <>
          <Pencil size={17} aria-hidden="true" />
          <h2 className="side-title grow truncate" title={call.name}>
            {title}
          </h2>
        </>
      }
      onClose={close}
    >
      <div className="side-body">
        <form ref={fields} id={formId} className="form" onSubmit={form.onSubmit}>
          {isPending ? (
            <Skeleton lines={5} height={40} />
          ) : (
            // A tool that is gone has no schema: then its arguments are fields of their own, each as JSON.
            <ArgumentsForm
              schema={tools.data?.find(({ name }) => name === call.name)?.parameters ?? {}}
              state={state}
              onProblem={form.setProblem}
            />
          )}
        </form>
      </div>
      <footer className="side-foot">
        {form.problem && (
          <div className="grow">
            <Notice tone="danger">{form.problem}</Notice>
          </div>
        )}
        <Button onClick={close}>{texts.cancel}</Button>
        <Button type="submit" form={formId} look="primary" busy={form.isBusy}>
          {t.runChanged}
        </Button>
      </footer>
      {isClosing && (
        <ConfirmDialog
          title={texts.discardTitle}
          text={t.changesLost}
          action={texts.discard}
          onConfirm={async () => onClose()}
          onClose={() => setClosing(false)}
        />
      )}
    </ModalPanel>
  )
}
