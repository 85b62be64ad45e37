import { useState } from 'react'
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
          />
        ))}
        <DialogFoot action={t.insert} onClose={onClose} />
      </form>
    </Dialog>
  )
}
