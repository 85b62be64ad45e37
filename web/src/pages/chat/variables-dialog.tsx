import { type KeyboardEvent, useState } from 'react'
import { composes } from '../../lib/composes.ts'
import { filled, variablesOf } from '../../lib/prompt-variables.ts'
import { texts } from '../../texts/index.ts'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'

const t = texts.prompts

interface VariablesProps {
  name: string
  /** A text with names in double braces. */
  prompt: string
  onFill: (text: string) => void
  onClose: () => void
}

/** Asks for what a prompt leaves open, one field for each name. */
export default function VariablesDialog({ name, prompt, onFill, onClose }: VariablesProps) {
  const names = variablesOf(prompt)
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map(names.map((one) => [one, ''])))
  return (
    <Dialog title={name} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          onFill(filled(prompt, values))
        }}
      >
        {names.map((one, place) => (
          <TextArea
            key={one}
            label={one}
            rows={1}
            maxLength={4000}
            autoFocus={place === 0}
            value={values.get(one) ?? ''}
            onValue={(value) => setValues(new Map([...values, [one, value]]))}
            onKeyDown={goOn}
          />
        ))}
        <DialogFoot action={t.insert} onClose={onClose} />
      </form>
    </Dialog>
  )
}

/** Enter goes to the next field, from the last one it sends the form; with Shift it begins a line, and on a phone. */
function goOn(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.ctrlKey || event.metaKey || composes(event.nativeEvent)) return
  if (matchMedia('(pointer: coarse)').matches) return
  event.preventDefault()
  const fields = [...(event.currentTarget.form?.querySelectorAll('textarea') ?? [])]
  const next = fields[fields.indexOf(event.currentTarget) + 1]
  if (next) next.focus()
  else event.currentTarget.form?.requestSubmit()
}
