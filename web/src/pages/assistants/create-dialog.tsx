import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { type Schemas, api, configKey, keys, queryClient, unwrap } from '../../lib/api.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { startMessages } from '../../texts/starts.ts'
import '../../styles/templates.css'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'

const t = texts.assistants

interface DialogProps {
  /** The first template is chosen. */
  isExample?: boolean
  onClose: () => void
}

/** Makes an assistant, from a template or from nothing. */
export default function CreateDialog({ isExample = false, onClose }: DialogProps) {
  const first = isExample ? templates[0] : undefined
  const [template, setTemplate] = useState(first)
  const [name, setName] = useState(first?.name ?? '')
  const [instructions, setInstructions] = useState(first?.instructions ?? '')
  const catalogue = useQuery({ queryKey: keys.tools, queryFn: () => unwrap(api.GET('/tools/')) })
  const navigate = useNavigate()
  const lacks = template?.tools?.some(({ type }) => !canUse(catalogue.data, type)) ?? false
  const form = useSubmit(async () => {
    const tools = await queryClient.ensureQueryData({
      queryKey: keys.tools,
      queryFn: () => unwrap(api.GET('/tools/')),
    })
    const config = configOf(template, instructions, ({ type }) => canUse(tools, type))
    const { assistant_id: assistantId } = await unwrap(
      api.POST('/assistants/', { body: { name: name.trim(), config } }),
    )
    await queryClient.invalidateQueries({ queryKey: keys.assistants })
    await navigate({ to: '/console/assistants/$assistantId', params: { assistantId } })
  })
  const choose = (next: Template | undefined) => {
    setTemplate(next)
    // What the person wrote stays.
    if (name === (template?.name ?? '')) setName(next?.name ?? '')
    if (instructions === (template?.instructions ?? '')) setInstructions(next?.instructions ?? '')
  }
  return (
    <FormDialog wide title={t.create} action={t.create} form={form} onClose={onClose}>
      <Choice chosen={template} onChoose={choose} />
      {lacks && catalogue.isSuccess && <Notice>{startMessages.noWebSearch}</Notice>}
      <TextField label={texts.name} help={t.nameHelp} value={name} onValue={setName} required maxLength={200} />
      <TextArea
        label={`${t.instructions} (${texts.optional})`}
        help={t.instructionsHelp}
        placeholder={t.instructionsExample}
        rows={5}
        value={instructions}
        onValue={setInstructions}
      />
    </FormDialog>
  )
}

interface ChoiceProps {
  chosen: Template | undefined
  onChoose: (template: Template | undefined) => void
}

function Choice({ chosen, onChoose }: ChoiceProps) {
  const group = useId()
  const blank = { name: startMessages.blank, text: startMessages.blankText }
  return (
    <fieldset className="templates">
      <legend>{startMessages.template}</legend>
      {[undefined, ...templates].map((template, place) => (
        <label key={place} className="template">
          <input type="radio" name={group} checked={template === chosen} onChange={() => onChoose(template)} />
          <strong>{(template ?? blank).name}</strong>
          <span className="muted small">{(template ?? blank).text}</span>
        </label>
      ))}
    </fieldset>
  )
}

function canUse(catalogue: { type: string; available: boolean }[] | undefined, type: string): boolean {
  return catalogue?.some((tool) => tool.type === type && tool.available) ?? false
}

const { templates: words } = startMessages

interface Template {
  name: string
  text: string
  instructions: string
  starters: string[]
  temperature?: number
  /** Tools that it is given if this service is set up for them; it works without them too. */
  tools?: Schemas['ToolSetting'][]
}

/** What a new assistant can begin with. The search of its files comes with the first file. */
const templates: Template[] = [
  { ...words.documents, temperature: 0.2 },
  words.support,
  { ...words.minutes, temperature: 0.2 },
  { ...words.translator, temperature: 0.2 },
  { ...words.sql, temperature: 0.2 },
  words.tutor,
  { ...words.researcher, tools: [{ type: 'web_search' }] },
  words.shop,
]

/** The configuration of an assistant with these instructions, made from the template. */
function configOf(
  template: Template | undefined,
  instructions: string,
  isAvailable: (tool: Schemas['ToolSetting']) => boolean,
): Schemas['AssistantConfig'] {
  const tools = template?.tools?.filter(isAvailable) ?? []
  return {
    ...(template && { [configKey.description]: template.text, [configKey.starters]: template.starters }),
    ...(instructions.trim() !== '' && { [configKey.systemMessage]: instructions }),
    ...(template?.temperature !== undefined && { [configKey.temperature]: template.temperature }),
    ...(tools.length > 0 && { [configKey.tools]: tools }),
  }
}
