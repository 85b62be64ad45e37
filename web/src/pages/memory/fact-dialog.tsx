import { useState } from 'react'
import { type Schemas, api, unwrap } from '../../lib/api.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { memoryMessages as t } from '../../texts/memory.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextArea } from '../../ui/field.tsx'
import { OwnerOptions, membersOf, ownerOf, useOwners } from './owner-options.tsx'

interface DialogProps {
  /** Undefined for a new one. */
  fact: Schemas['Memory'] | undefined
  /** What a new one begins with. */
  first?: string
  onClose: () => void
  onSaved: () => Promise<unknown>
}

/** Saves a fact, or changes its text and whom it is for. */
export function FactDialog({ fact, first = '', onClose, onSaved }: DialogProps) {
  const [text, setText] = useState(fact?.text ?? first)
  const [owner, setOwner] = useState(fact ? ownerOf(fact) : '')
  const owners = useOwners()
  const form = useSubmit(async () => {
    if (fact) {
      const path = { memory_id: fact.memory_id }
      const place = owner === ownerOf(fact) ? {} : { assistant_id: null, project_id: null, ...membersOf(owner) }
      await unwrap(api.PATCH('/memory/{memory_id}', { params: { path }, body: { text, ...place } }))
    } else await unwrap(api.POST('/memory/', { body: { text, ...membersOf(owner) } }))
    await onSaved()
    onClose()
  })
  return (
    <FormDialog title={fact ? t.edit : t.create} action={texts.save} form={form} onClose={onClose}>
      <TextArea
        label={t.fact}
        help={t.factHelp}
        value={text}
        onValue={setText}
        error={form.fields['text']}
        required
        maxLength={1000}
        rows={3}
      />
      <SelectField label={t.for} value={owner} onValue={setOwner}>
        <option value="">{t.everyAssistant}</option>
        <OwnerOptions owners={owners} />
      </SelectField>
    </FormDialog>
  )
}
