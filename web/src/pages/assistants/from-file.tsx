import { useNavigate } from '@tanstack/react-router'
import { FileUp } from 'lucide-react'
import { useRef, useState } from 'react'
import { type Schemas, api, keys, queryClient, unwrap } from '../../lib/api.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'

const t = assistantMessages.assistantFiles
/** As much as the service takes. */
const maxBytes = 1024 * 1024

/** Creates or changes an assistant from a YAML file, and says what it still lacks. */
export function FromFile() {
  const input = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  const [file, setFile] = useState<File>()
  const [applied, setApplied] = useState<Schemas['AppliedAssistantFile']>()
  const open = (assistantId: string) => navigate({ to: '/console/assistants/$assistantId', params: { assistantId } })
  const form = useSubmit(async () => {
    if (file === undefined) return
    if (file.size > maxBytes) throw new Error(t.tooLarge)
    const answer = await unwrap(api.POST('/assistants/apply', { body: { file: await file.text() } }))
    await queryClient.invalidateQueries({ queryKey: keys.assistants })
    await queryClient.invalidateQueries({ queryKey: keys.assistant(answer.assistant.assistant_id) })
    if (answer.missing_secrets.length + answer.missing_files.length > 0) setApplied(answer)
    else await open(answer.assistant.assistant_id)
  })
  const close = () => {
    setFile(undefined)
    setApplied(undefined)
    form.setProblem(undefined)
  }
  return (
    <>
      <Button onClick={() => input.current?.click()}>
        <FileUp size={17} aria-hidden="true" />
        {t.fromFile}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".yaml,.yml"
        aria-label={t.fromFile}
        hidden
        onChange={({ target }) => {
          setFile(target.files?.[0])
          target.value = ''
        }}
      />
      {file !== undefined && (
        <Dialog title={t.fromFile} onClose={close}>
          {applied === undefined ? (
            <form className="form" onSubmit={form.onSubmit}>
              <p>{t.applyText(file.name)}</p>
              {form.problem && <Notice tone="danger">{form.problem}</Notice>}
              <DialogFoot action={t.apply} busy={form.isBusy} onClose={close} />
            </form>
          ) : (
            <div className="form">
              <p>{t.lacks}</p>
              <ul>
                {[...applied.missing_secrets, ...applied.missing_files].map((name) => (
                  <li key={name}>{name}</li>
                ))}
              </ul>
              <div className="row row-end">
                <Button look="primary" onClick={() => void open(applied.assistant.assistant_id)}>
                  {t.open}
                </Button>
              </div>
            </div>
          )}
        </Dialog>
      )}
    </>
  )
}
