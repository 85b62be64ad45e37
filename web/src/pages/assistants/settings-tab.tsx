import { type Assistant, type Project, api, configKey, keys, queryClient, unwrap, useProjects } from '../../lib/api.ts'
import { wordsOf } from '../../lib/api.ts'
import type { DraftState } from '../../lib/draft.ts'
import { effortOf, efforts } from '../../lib/efforts.ts'
import { useMembership } from '../../lib/membership.ts'
import { useSession } from '../../lib/session.ts'
import { say } from '../../lib/toasts.ts'
import { texts } from '../../texts/index.ts'
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { ModelPicker } from '../../ui/model-picker.tsx'
import { StarterFields } from './starter-fields.tsx'

const t = texts.assistants
const numberOf = (value: string) => (value.trim() === '' ? undefined : Number(value))

export function SettingsTab({ assistant, state }: { assistant: Assistant; state: DraftState }) {
  const { draft, set, setConfig } = state
  const { isHolder } = useMembership()
  const { config } = draft
  return (
    <div className="stack">
      <div className="card form">
        <TextField
          label={texts.name}
          help={t.nameHelp}
          value={draft.name}
          onValue={(name) => set({ name })}
          maxLength={200}
        />
        <TextField
          label={texts.description}
          help={t.descriptionHelp}
          value={config[configKey.description] ?? ''}
          onValue={(value) => setConfig(configKey.description, value)}
        />
        <TextArea
          label={t.instructions}
          help={t.instructionsHelp}
          placeholder={t.instructionsExample}
          rows={8}
          value={config[configKey.systemMessage] ?? ''}
          onValue={(value) => setConfig(configKey.systemMessage, value)}
        />
        <CheckField
          label={t.approval}
          help={t.approvalHelp}
          checked={config[configKey.approval] ?? false}
          onValue={(value) => setConfig(configKey.approval, value || undefined)}
        />
      </div>
      <StarterFields state={state} />
      <div className="card form">
        <h2>{t.advanced}</h2>
        <ModelPicker
          help={t.modelHelp}
          value={config[configKey.model] ?? ''}
          onValue={(value) => setConfig(configKey.model, value)}
        />
        <SelectField
          label={texts.modelPicker.effort}
          help={texts.modelPicker.effortHelp}
          value={config[configKey.effort] ?? ''}
          onValue={(value) => setConfig(configKey.effort, effortOf(value))}
        >
          <option value="">{texts.modelPicker.effortOfAssistant}</option>
          {efforts.map((effort) => (
            <option key={effort} value={effort}>
              {texts.modelPicker.efforts[effort]}
            </option>
          ))}
        </SelectField>
        <details className="stack-small">
          <summary>{t.fineTuning}</summary>
          <div className="form-row">
            <TextField
              label={t.temperature}
              help={t.temperatureHelp}
              type="number"
              min={0}
              max={2}
              step={0.1}
              value={config[configKey.temperature] ?? ''}
              onValue={(value) => setConfig(configKey.temperature, numberOf(value))}
            />
            <TextField
              label={t.maxSteps}
              help={t.maxStepsHelp}
              type="number"
              min={1}
              max={200}
              value={config[configKey.maxSteps] ?? ''}
              onValue={(value) => setConfig(configKey.maxSteps, numberOf(value))}
            />
          </div>
        </details>
        <TextArea
          label={t.retrieval}
          help={t.retrievalHelp}
          rows={3}
          value={config[configKey.retrievalDescription] ?? ''}
          onValue={(value) => setConfig(configKey.retrievalDescription, value)}
        />
        {isHolder && <ProjectField assistant={assistant} />}
      </div>
    </div>
  )
}

/** An assistant moves between projects that the same account holds. */
const ownOf = (projects: Project[] = [], userId: string | undefined) =>
  projects.filter(({ owner }) => owner.user_id === userId)

function ProjectField({ assistant }: { assistant: Assistant }) {
  const projects = useProjects()
  const userId = useSession()?.userId
  const move = async (projectId: string) => {
    const path = { params: { path: { aid: assistant.assistant_id } } }
    try {
      const moved = await unwrap(api.PUT('/assistants/{aid}/project', { ...path, body: { project_id: projectId } }))
      queryClient.setQueryData(keys.assistant(assistant.assistant_id), moved)
      await queryClient.invalidateQueries({ queryKey: keys.assistants })
      say(texts.saved)
    } catch (error) {
      say(wordsOf(error, texts.offline), 'danger')
    }
  }
  return (
    <SelectField label={t.move} help={t.moveHelp} value={assistant.project_id} onValue={(id) => void move(id)}>
      {ownOf(projects.data, userId).map(({ project_id: id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}
