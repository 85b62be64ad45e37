import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Schemas, api, keys, unwrap } from '../../lib/api.ts'
import { cronWords } from '../../lib/cron-words.ts'
import { formatDateTimeIn } from '../../lib/format.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { cronOfWords } from '../../lib/words-to-cron.ts'
import { texts } from '../../texts/index.ts'
import { scheduleMessages } from '../../texts/schedules.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx'

const t = scheduleMessages
type Schedule = Schemas['Schedule']

interface DialogProps {
  /** Undefined for a new one. */
  schedule?: Schedule
  /** What a new one begins with. */
  first?: { question: string; cron: string }
  onClose: () => void
  onSaved: () => Promise<unknown>
}

const ownZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Makes or changes a schedule: when in words, or as a cron expression, with its next times. */
export function ScheduleDialog({ schedule, first, onClose, onSaved }: DialogProps) {
  const assistants = useQuery({ queryKey: keys.assistants, queryFn: () => unwrap(api.GET('/assistants/')) })
  const [assistant, setAssistant] = useState(schedule?.assistant_id ?? '')
  const [question, setQuestion] = useState(schedule?.input.at(-1)?.data.content ?? first?.question ?? '')
  const [cron, setCron] = useState(schedule ? (schedule.cron ?? '') : (first?.cron ?? '0 7 * * 1-5'))
  const [words, setWords] = useState(() => wordsFor(cron))
  // What words cannot say is there to be seen.
  const [hasMore, setMore] = useState(words === '' && cron !== '')
  const [timezone, setTimezone] = useState(schedule?.timezone ?? ownZone())
  const [overlap, setOverlap] = useState<Schemas['OverlapPolicy']>(schedule?.overlap ?? 'skip')
  const [note, setNote] = useState(schedule?.note ?? '')
  const [mailResult, setMailResult] = useState(schedule?.mail_result ?? false)
  const assistantId = assistant || (assistants.data?.[0]?.assistant_id ?? '')
  // One that was made by a program may be due at intervals, or once: its times stay.
  const hasCron = !schedule || schedule.cron !== null
  const form = useSubmit(async () => {
    const body = {
      assistant_id: assistantId,
      input: [{ type: 'human' as const, content: question }],
      ...(hasCron ? { cron: cron.trim(), timezone } : {}),
      overlap,
      note,
      mail_result: mailResult,
    }
    if (schedule) {
      const path = { schedule_id: schedule.schedule_id }
      await unwrap(api.PATCH('/schedules/{schedule_id}', { params: { path }, body }))
    } else await unwrap(api.POST('/schedules/', { body }))
    await onSaved()
    onClose()
  })
  return (
    <FormDialog
      title={schedule ? texts.edit : t.create}
      form={form}
      action={schedule ? texts.save : t.create}
      disabled={hasCron && cron.trim() === ''}
      onClose={onClose}
    >
      <TextArea label={t.question} value={question} onValue={setQuestion} required rows={3} />
      <SelectField label={t.assistant} value={assistantId} onValue={setAssistant}>
        {assistants.data?.map(({ assistant_id: id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <TextField
        label={`${t.note} (${texts.optional})`}
        help={t.noteHelp}
        value={note}
        onValue={setNote}
        maxLength={1000}
      />
      {hasCron && (
        <>
          <TextField
            label={t.when}
            help={t.whenHelp}
            placeholder={t.whenExample}
            maxLength={120}
            value={words}
            error={words.trim() !== '' && cron === '' ? t.notUnderstood : undefined}
            onValue={(value) => {
              setWords(value)
              setCron(cronOfWords(value) ?? '')
            }}
          />
          <Preview cron={cron.trim()} timezone={timezone} />
        </>
      )}
      <details className="more-fields" open={hasMore} onToggle={(event) => setMore(event.currentTarget.open)}>
        <summary>{t.more}</summary>
        {hasCron && (
          <div className="form-row">
            <TextField
              label={t.cron}
              value={cron}
              mono
              error={form.fields['cron']}
              onValue={(value) => {
                setCron(value)
                setWords(wordsFor(value))
              }}
            />
            <TextField label={t.timezone} value={timezone} onValue={setTimezone} error={form.fields['timezone']} />
          </div>
        )}
        <SelectField
          label={t.overlap}
          value={overlap}
          onValue={(value) => setOverlap(value === 'buffer_one' || value === 'cancel_other' ? value : 'skip')}
        >
          <option value="skip">{t.overlaps.skip}</option>
          <option value="buffer_one">{t.overlaps.buffer_one}</option>
          <option value="cancel_other">{t.overlaps.cancel_other}</option>
        </SelectField>
      </details>
      <CheckField label={t.mail} checked={mailResult} onValue={setMailResult} />
    </FormDialog>
  )
}

/** An expression in words that mean the same; empty if there are none. */
function wordsFor(cron: string): string {
  const words = cronWords(cron.trim())
  return cronOfWords(words) === cron.trim() ? words : ''
}

/** What the expression means, and when it is due next. */
function Preview({ cron, timezone }: { cron: string; timezone: string }) {
  const times = useQuery({
    queryKey: keys.scheduleTimes(cron, timezone),
    queryFn: () => unwrap(api.POST('/schedules/preview', { body: { cron, timezone } })),
    enabled: cron !== '',
    retry: false,
  })
  if (cron === '') return undefined
  return (
    <div aria-live="polite" className="muted small">
      <p>
        {cronWords(cron)} ({timezone})
      </p>
      {times.isError && <p>{t.notValid}</p>}
      <ul className="next-times">
        {times.data?.next_runs.map((time) => (
          <li key={time}>{formatDateTimeIn(timezone, time)}</li>
        ))}
      </ul>
    </div>
  )
}
