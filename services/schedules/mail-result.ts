import type { DueRun } from '../../domain/contracts/schedule-run.ts'
import { cutText } from '../../domain/cut-text.ts'
import { escapeHtml } from '../../domain/escape-html.ts'
import { type Language, defaultLanguage } from '../../domain/languages.ts'
import type { ScheduleRunRecord } from '../../domain/records/schedule.ts'
import type { DerivedSecrets } from '../accounts/derived-secrets.ts'
import type { Collections } from '../collections.ts'
import { mailMessages, mailTime } from '../mail-messages.ts'
import type { Mail, Mailer } from '../mailer.ts'
import type { Runs } from '../runs/index.ts'
import { scheduleRunStore, scheduleStore } from '../stores/schedules.ts'
import { userStore } from '../stores/users.ts'
import { keyOf } from './finish-run.ts'

interface MailResultDeps {
  collections: Pick<Collections, 'schedules' | 'scheduleRuns' | 'users'>
  mailer: Pick<Mailer, 'send'>
  secrets: Pick<DerivedSecrets, 'scheduleMailSignature'>
  readOutput: Runs['output']
  settings: { baseUrl: string }
}

/** Characters of an answer in a mail. */
const answerLength = 20_000

/**
 * Mails the result of a run to the confirmed address of its owner, if the schedule still asks for it. A repeated attempt
 * sends a mail with the same id.
 */
export function createMailResult({ collections, mailer, secrets, readOutput, settings }: MailResultDeps) {
  return async (due: DueRun): Promise<void> => {
    const scheduled = await scheduleRunStore(collections).findOfAny(keyOf(due))
    const schedule = await scheduleStore(collections).findOfAny(due.scheduleId)
    if (scheduled === null || schedule === null || !schedule.mail_result) return
    const user = await userStore(collections).find(schedule.user_id)
    if (!user?.email || !user.verified || user.deleting) return
    if (user.suspended_at !== undefined || user.deactivated_at !== undefined) return
    const { mail_stops: stops = 0 } = schedule
    const { language = defaultLanguage } = user
    const signature = secrets.scheduleMailSignature(schedule._id, stops)
    const stop = new URLSearchParams({ stops: String(stops), signature })
    await mailer.send(
      resultMail({
        to: user.email,
        language,
        messageId: `schedule-${scheduled.run_id}`,
        title: cutText(schedule.note.replaceAll(/\s+/g, ' ').trim() || mailMessages[language].result.subject, 100),
        time: mailTime(scheduled.due_at, language, schedule.timezone),
        text: await wordsOf(scheduled, language),
        stopUrl: `${settings.baseUrl}/schedules/${schedule._id}/mail?${stop.toString()}`,
      }),
    )
  }

  async function wordsOf(scheduled: ScheduleRunRecord, language: Language): Promise<string> {
    const { outcome = 'unknown', error, run_id, thread_id, user_id } = scheduled
    if (outcome !== 'success') {
      const { noAnswer, outcomes } = mailMessages[language].result
      return `${noAnswer(outcomes[outcome])} ${error?.message ?? ''}`.trim()
    }
    const { messages } = await readOutput({ _id: run_id, thread_id, user_id })
    const answer =
      messages.findLast(({ type, data }) => type === 'AIMessage' && data.content !== '')?.data.content ?? ''
    return answer.length > answerLength ? `${cutText(answer, answerLength)} …` : answer
  }
}

interface Result {
  to: string
  language: Language
  messageId: string
  title: string
  time: string
  text: string
  stopUrl: string
}

function resultMail({ to, language, messageId, title, time, text, stopUrl }: Result): Mail {
  const url = escapeHtml(stopUrl)
  const { runOf, stop } = mailMessages[language].result
  return {
    to,
    messageId,
    subject: title,
    text: `${text}\n\n--\n${runOf(time)} ${stop}: ${stopUrl}\n`,
    html: `<!doctype html>
<html lang="${language}"><body>
<div style="white-space: pre-wrap">${escapeHtml(text)}</div>
<hr>
<p>${escapeHtml(runOf(time))} <a href="${url}">${escapeHtml(stop)}</a></p>
</body></html>
`,
    unsubscribeUrl: stopUrl,
  }
}
