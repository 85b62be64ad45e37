import { useQuery } from '@tanstack/react-query'
import { CalendarClock, History, Pause, Pencil, Play, Trash2, Zap } from 'lucide-react'
import { useState } from 'react'
import { type Schemas, api, keys, queryClient, unwrap, wordsOf } from '../../lib/api.ts'
import { timingWords } from '../../lib/cron-words.ts'
import { formatDateTime } from '../../lib/format.ts'
import { say } from '../../lib/toasts.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { ListPage } from '../../ui/list-page.tsx'
import { Empty } from '../../ui/states.tsx'
import { ScheduleDialog } from './schedule-dialog.tsx'
import { ScheduleHistory } from './schedule-history.tsx'

const t = texts.schedules
type Schedule = Schemas['Schedule']
type Opened = { what: 'edit' | 'history' | 'delete'; schedule: Schedule } | 'new' | 'example'

const pathOf = ({ schedule_id }: Schedule) => ({ params: { path: { schedule_id } } })
const refresh = () => queryClient.invalidateQueries({ queryKey: keys.schedules })

/** The schedules of the project: when they run next, and what can be done with them. */
export function Schedules() {
  useTitle(t.title)
  const schedules = useQuery({
    queryKey: keys.schedules,
    queryFn: () => unwrap(api.GET('/schedules/', { params: { query: { limit: 1000 } } })),
  })
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  const list = schedules.data?.schedules ?? []
  return (
    <ListPage
      title={t.title}
      text={t.text}
      create={t.create}
      onCreate={() => setOpened('new')}
      query={schedules}
      isEmpty={schedules.data !== undefined && list.length === 0}
    >
      {schedules.data && list.length === 0 && (
        <Empty
          icon={<CalendarClock size={32} aria-hidden="true" />}
          title={t.none}
          example={{ text: t.example.text, onChoose: () => setOpened('example') }}
        >
          <Button look="primary" onClick={() => setOpened('new')}>
            {t.create}
          </Button>
        </Empty>
      )}
      {list.length > 0 && (
        <ul className="file-list">
          {list.map((schedule) => (
            <ScheduleRow
              key={schedule.schedule_id}
              schedule={schedule}
              onOpen={(what) => setOpened({ what, schedule })}
            />
          ))}
        </ul>
      )}
      {opened === 'new' && <ScheduleDialog onClose={close} onSaved={refresh} />}
      {opened === 'example' && <ScheduleDialog first={t.example} onClose={close} onSaved={refresh} />}
      {typeof opened === 'object' && opened.what === 'edit' && (
        <ScheduleDialog schedule={opened.schedule} onClose={close} onSaved={refresh} />
      )}
      {typeof opened === 'object' && opened.what === 'history' && (
        <ScheduleHistory schedule={opened.schedule} onClose={close} />
      )}
      {typeof opened === 'object' && opened.what === 'delete' && (
        <ConfirmDialog
          title={t.deleteTitle}
          text={t.deleteText(nameOf(opened.schedule))}
          action={texts.delete}
          onConfirm={async () => {
            await unwrap(api.DELETE('/schedules/{schedule_id}', pathOf(opened.schedule)))
            await refresh()
          }}
          onClose={close}
        />
      )}
    </ListPage>
  )
}

const nameOf = (schedule: Schedule) => schedule.note || timingWords(schedule)

function ScheduleRow({
  schedule,
  onOpen,
}: {
  schedule: Schedule
  onOpen: (what: 'edit' | 'history' | 'delete') => void
}) {
  const name = nameOf(schedule)
  const [next] = schedule.next_runs
  const attempt = async (work: () => Promise<unknown>, done: string) => {
    try {
      await work()
      say(done)
    } catch (error) {
      say(wordsOf(error, texts.offline), 'danger')
    }
    await refresh()
  }
  const pause = (paused: boolean) =>
    attempt(
      () => unwrap(api.PATCH('/schedules/{schedule_id}', { ...pathOf(schedule), body: { paused } })),
      paused ? t.paused : t.continued,
    )
  const trigger = () =>
    attempt(() => unwrap(api.POST('/schedules/{schedule_id}/trigger', pathOf(schedule))), t.triggered)
  return (
    <li className="file-row">
      <CalendarClock size={18} aria-hidden="true" className="muted" />
      <div className="grow">
        <div className="truncate">{name}</div>
        <div className="muted small">{timingWords(schedule)}</div>
        <div className="muted small">{schedule.pause_reason ?? (next ? t.next(formatDateTime(next)) : t.noNext)}</div>
      </div>
      {schedule.paused && <span className="badge">{t.isPaused}</span>}
      <IconButton label={`${t.runNow}: ${name}`} icon={<Zap size={15} />} onClick={() => void trigger()} />
      <IconButton
        label={`${schedule.paused ? t.continue : t.pause}: ${name}`}
        icon={schedule.paused ? <Play size={15} /> : <Pause size={15} />}
        onClick={() => void pause(!schedule.paused)}
      />
      <IconButton label={`${t.history}: ${name}`} icon={<History size={15} />} onClick={() => onOpen('history')} />
      <IconButton label={`${texts.edit}: ${name}`} icon={<Pencil size={15} />} onClick={() => onOpen('edit')} />
      <IconButton label={`${texts.delete}: ${name}`} icon={<Trash2 size={16} />} onClick={() => onOpen('delete')} />
    </li>
  )
}
