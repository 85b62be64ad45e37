import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CalendarClock, History, Pause, Pencil, Play, Trash2, Zap } from 'lucide-react'
import { useState } from 'react'
import { type Schemas, api, keys, queryClient, unwrap, wordsOf } from '../../lib/api.ts'
import { timingWords } from '../../lib/cron-words.ts'
import { sentenceOf } from '../../lib/error-messages.ts'
import { formatDateTime, formatDateTimeIn } from '../../lib/format.ts'
import { useMembership } from '../../lib/membership.ts'
import { setNews, useNews } from '../../lib/schedule-news.ts'
import { say } from '../../lib/toasts.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { scheduleMessages } from '../../texts/schedules.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { ListPage } from '../../ui/list-page.tsx'
import { Empty } from '../../ui/states.tsx'
import { nameOf } from './name-of.ts'
import { ScheduleDialog } from './schedule-dialog.tsx'
import { ScheduleHistory } from './schedule-history.tsx'

const t = scheduleMessages
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
  const why = useMembership().why('editor')
  const list = schedules.data?.schedules ?? []
  return (
    <ListPage
      title={t.title}
      text={t.text}
      create={t.create}
      onCreate={() => setOpened('new')}
      why={why}
      query={schedules}
      isEmpty={schedules.data !== undefined && list.length === 0}
    >
      {schedules.data && <Results schedules={list} />}
      {schedules.data && list.length === 0 && (
        <Empty
          icon={<CalendarClock size={32} aria-hidden="true" />}
          title={t.none}
          {...(why === undefined && { example: { text: t.example.text, onChoose: () => setOpened('example') } })}
        >
          {why === undefined && (
            <Button look="primary" onClick={() => setOpened('new')}>
              {t.create}
            </Button>
          )}
        </Empty>
      )}
      {list.length > 0 && (
        <ul className="file-list">
          {list.map((schedule) => (
            <ScheduleRow
              key={schedule.schedule_id}
              schedule={schedule}
              canEdit={why === undefined}
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

/** Why it is paused, in the reader's language; without words in it, the badge says that it is. */
const reasonOf = ({ pause_reason: reason }: Schedule) =>
  reason === null ? undefined : (sentenceOf(reason) ?? t.isPaused)

function ScheduleRow({
  schedule,
  canEdit,
  onOpen,
}: {
  schedule: Schedule
  canEdit: boolean
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
        <div className="muted small">{reasonOf(schedule) ?? (next ? t.next(timeOf(schedule, next)) : t.noNext)}</div>
      </div>
      {schedule.paused && <span className="badge">{t.isPaused}</span>}
      {canEdit && (
        <>
          <IconButton label={`${t.runNow}: ${name}`} icon={<Zap size={15} />} onClick={() => void trigger()} />
          <IconButton
            label={`${schedule.paused ? t.continue : t.pause}: ${name}`}
            icon={schedule.paused ? <Play size={15} /> : <Pause size={15} />}
            onClick={() => void pause(!schedule.paused)}
          />
        </>
      )}
      <IconButton label={`${t.history}: ${name}`} icon={<History size={15} />} onClick={() => onOpen('history')} />
      {canEdit && (
        <>
          <IconButton label={`${texts.edit}: ${name}`} icon={<Pencil size={15} />} onClick={() => onOpen('edit')} />
          <IconButton label={`${texts.delete}: ${name}`} icon={<Trash2 size={16} />} onClick={() => onOpen('delete')} />
        </>
      )}
    </li>
  )
}

/** What came since the user looked last. */
function Results({ schedules }: { schedules: Schedule[] }) {
  const news = useNews()
  if (news.length === 0) return undefined
  return (
    <section className="card stack-small" aria-labelledby="schedule-results">
      <div className="spread">
        <h2 id="schedule-results">{t.results}</h2>
        <Button size="small" onClick={() => setNews([])}>
          {t.clear}
        </Button>
      </div>
      <ul className="file-list">
        {news.map(({ run_id: id, schedule_id: scheduleId, thread_id: threadId, outcome, finished_at: time }) => {
          const name = nameOf(schedules.find(({ schedule_id: other }) => other === scheduleId))
          return (
            <li key={id} className="file-row">
              {threadId === undefined ? (
                <span className="grow truncate">{name}</span>
              ) : (
                <Link to="/console/chat/$threadId" params={{ threadId }} className="grow truncate">
                  {name}
                </Link>
              )}
              {outcome === 'failed' && <span className="badge badge-danger">{t.status.error}</span>}
              {outcome === 'waits' && <span className="badge badge-warn">{t.status.interrupted}</span>}
              <span className="muted small">{formatDateTime(time)}</span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** A cron expression is read in the time zone of its schedule, and so are its times. */
const timeOf = ({ cron, timezone }: Schedule, time: string) =>
  cron === null ? formatDateTime(time) : formatDateTimeIn(timezone, time)
