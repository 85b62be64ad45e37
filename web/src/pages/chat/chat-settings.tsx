import { useState } from 'react'
import { createPortal } from 'react-dom'
import { choose, chosenFor } from '../../lib/chat-model.ts'
import { efforts } from '../../lib/efforts.ts'
import { getSession } from '../../lib/session.ts'
import { besideMessages } from '../../texts/beside.ts'
import { texts } from '../../texts/index.ts'
import { Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { ModelOptions, useModels } from '../../ui/model-picker.tsx'

const t = texts.chat.settings
const names = texts.modelPicker
/** Together they fit into the instructions that a run may have. */
const longest = 9000

/** What holds in one chat beside the instructions of its assistant, and what the person says of himself for all chats. */
export default function ChatSettings({ chat, onClose }: { chat: string; onClose: () => void }) {
  const user = getSession()?.userId ?? ''
  const [about, setAbout] = useState(() => chosenFor('about', user))
  const [instructions, setInstructions] = useState(() => chosenFor('instructions', chat))
  const [temperature, setTemperature] = useState(() => chosenFor('temperature', chat))
  const [beside, setBeside] = useState(() => chosenFor('beside', chat))
  const [model, setModel] = useState(() => chosenFor('model', chat))
  const [effort, setEffort] = useState(() => chosenFor('effort', chat))
  const models = useModels().data?.models ?? []
  // Not within the form of the message.
  return createPortal(
    <Dialog title={t.title} onClose={onClose}>
      <form
        className="form"
        // In the tree of components the form of the message is around this one.
        onSubmit={(event) => {
          event.preventDefault()
          event.stopPropagation()
          choose('about', user, about.trim())
          choose('instructions', chat, instructions.trim())
          choose('temperature', chat, temperature)
          choose('beside', chat, beside)
          choose('model', chat, model)
          choose('effort', chat, effort)
          onClose()
        }}
      >
        <TextArea
          label={t.instructions}
          help={t.instructionsHelp}
          rows={4}
          maxLength={longest}
          autoFocus
          value={instructions}
          onValue={setInstructions}
        />
        <TextField
          label={t.temperature}
          help={t.temperatureHelp}
          type="number"
          min={0}
          max={2}
          step={0.1}
          value={temperature}
          onValue={setTemperature}
        />
        {(models.length > 1 || model !== '') && (
          <SelectField label={names.label} value={model} onValue={setModel}>
            <option value="">{names.ofAssistant}</option>
            <ModelOptions models={models} isShort />
            {model !== '' && !models.some(({ id }) => id === model) && <option value={model}>{model}</option>}
          </SelectField>
        )}
        <SelectField label={names.effort} help={names.effortHelp} value={effort} onValue={setEffort}>
          <option value="">{names.effortOfAssistant}</option>
          {efforts.map((one) => (
            <option key={one} value={one}>
              {names.efforts[one]}
            </option>
          ))}
        </SelectField>
        {(models.length > 1 || beside !== '') && (
          <SelectField
            label={besideMessages.second}
            help={besideMessages.secondHelp}
            value={beside}
            onValue={setBeside}
          >
            <option value="">{besideMessages.none}</option>
            {[...new Set([...models.map(({ id }) => id), beside])].filter(Boolean).map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </SelectField>
        )}
        <TextArea label={t.about} help={t.aboutHelp} rows={4} maxLength={longest} value={about} onValue={setAbout} />
        <DialogFoot action={texts.save} onClose={onClose} />
      </form>
    </Dialog>,
    document.body,
  )
}
