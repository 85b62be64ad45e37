import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Play, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type Schemas, api, unwrap, wordsOf } from '../../lib/api.ts'
import { formatDateTime } from '../../lib/format.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { evaluationMessages } from '../../texts/evaluation.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { Problem } from '../../ui/states.tsx'

const t = evaluationMessages

type Kept = Schemas['Evaluation']
type Expected = Schemas['EvaluationRequest']['questions'][number]

const keyOf = (assistantId: string) => ['evaluation', assistantId]
const pathOf = (assistantId: string) => ({ params: { path: { aid: assistantId } } })

/** Own questions with the file and page that answer them, and in which place the search found these each time. */
export function Evaluation({ assistantId, fileNames }: { assistantId: string; fileNames: string[] }) {
  const client = useQueryClient()
  const kept = useQuery({
    queryKey: keyOf(assistantId),
    queryFn: () => unwrap(api.GET('/assistants/{aid}/evaluation', pathOf(assistantId))),
  })
  const replace = async (questions: Expected[]) => {
    const body = { questions: questions.map(({ question, file_name, page }) => ({ question, file_name, page })) }
    const saved = await unwrap(api.PUT('/assistants/{aid}/evaluation', { ...pathOf(assistantId), body }))
    client.setQueryData(keyOf(assistantId), saved)
  }
  const run = useSubmit(async () => {
    await unwrap(api.POST('/assistants/{aid}/evaluation/runs', pathOf(assistantId)))
    await client.invalidateQueries({ queryKey: keyOf(assistantId) })
  })
  const questions = kept.data?.questions ?? []
  const remove = (id: string) =>
    void replace(questions.filter((one) => one.question_id !== id)).catch((error: unknown) =>
      say(wordsOf(error, texts.offline), 'danger'),
    )
  return (
    <section className="card stack-small">
      <h2>{t.title}</h2>
      <p className="muted small">{t.help}</p>
      {kept.isError && <Problem error={kept.error} onRetry={() => void kept.refetch()} />}
      {kept.data && questions.length > 0 && <Questions kept={kept.data} onRemove={remove} />}
      <NewQuestion fileNames={fileNames} onAdd={(question) => replace([...questions, question])} />
      {questions.length > 0 && (
        <form onSubmit={run.onSubmit}>
          <Button type="submit" busy={run.isBusy}>
            <Play size={16} aria-hidden="true" />
            {t.run}
          </Button>
        </form>
      )}
      {run.problem && <Notice tone="danger">{run.problem}</Notice>}
      {kept.data && kept.data.runs.length > 0 && <Runs runs={kept.data.runs} />}
    </section>
  )
}

function Questions({ kept: { questions, runs }, onRemove }: { kept: Kept; onRemove: (id: string) => void }) {
  const placesOf = (run: Kept['runs'][number] | undefined) =>
    new Map(run?.places.map(({ question_id: id, place }) => [id, place]))
  const [last, before] = [placesOf(runs[0]), placesOf(runs[1])]
  return (
    <ScrollRegion label={t.questions}>
      <table className="table">
        <thead>
          <tr>
            <th>{t.question}</th>
            <th>{t.expected}</th>
            <th className="number">{t.place}</th>
            <th className="number">{t.placeBefore}</th>
            <th>
              <span className="visually-hidden">{texts.delete}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {questions.map(({ question_id: id, question, file_name: name, page }) => (
            <tr key={id}>
              <th scope="row">{question}</th>
              <td>{page === undefined ? name : `${name}, ${texts.chat.page(page)}`}</td>
              <td className="number">{placeText(last.get(id))}</td>
              <td className="number">{placeText(before.get(id))}</td>
              <td>
                <IconButton label={t.remove(question)} icon={<Trash2 size={16} />} onClick={() => onRemove(id)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}

const placeText = (place: number | undefined): string =>
  place === undefined ? '–' : place === 0 ? t.notFound : String(place)

function NewQuestion({ fileNames, onAdd }: { fileNames: string[]; onAdd: (question: Expected) => Promise<void> }) {
  const [question, setQuestion] = useState('')
  const [name, setName] = useState('')
  const [page, setPage] = useState('')
  const chosen = name === '' ? (fileNames[0] ?? '') : name
  const form = useSubmit(async () => {
    await onAdd({ question, file_name: chosen, ...(page === '' ? {} : { page: Number(page) }) })
    setQuestion('')
    setPage('')
  })
  return (
    <form className="stack-small" onSubmit={form.onSubmit}>
      <TextField label={t.newQuestion} required maxLength={500} value={question} onValue={setQuestion} />
      <SelectField label={t.answeredBy} value={chosen} onValue={setName}>
        {fileNames.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </SelectField>
      <TextField label={t.page} type="number" min={1} max={1_000_000} value={page} onValue={setPage} />
      <div>
        <Button type="submit" busy={form.isBusy}>
          <Plus size={16} aria-hidden="true" />
          {t.add}
        </Button>
      </div>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
    </form>
  )
}

function Runs({ runs }: Pick<Kept, 'runs'>) {
  const share = (value: number, before: number | undefined): string => {
    const percent = Math.round(value * 100)
    const change = before === undefined ? 0 : percent - Math.round(before * 100)
    return change === 0 ? `${percent} %` : `${percent} % (${change > 0 ? '+' : '−'}${Math.abs(change)})`
  }
  return (
    <ScrollRegion label={t.runs}>
      <table className="table">
        <thead>
          <tr>
            <th>{t.time}</th>
            <th>{t.model}</th>
            <th className="number">{t.files}</th>
            <th className="number">{t.first}</th>
            <th className="number">{t.five}</th>
            <th className="number">{t.ten}</th>
          </tr>
        </thead>
        <tbody>
          {runs.map(({ created_at: at, embedding_model: model, files, right }, index) => {
            const before = runs[index + 1]?.right
            return (
              <tr key={at}>
                <th scope="row">{formatDateTime(at)}</th>
                <td>{model}</td>
                <td className="number">{files}</td>
                <td className="number">{share(right.first, before?.first)}</td>
                <td className="number">{share(right.five, before?.five)}</td>
                <td className="number">{share(right.ten, before?.ten)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </ScrollRegion>
  )
}
