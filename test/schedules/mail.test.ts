import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { mailTo, mailsTo } from '../support/mailbox.ts'
import { useModelService } from '../support/model-service.ts'
import { otherLetter } from '../support/other-letter.ts'
import { planner } from './support.ts'

const answer = `Two <b>ships</b> & "more" <script>alert(1)</script> <img src=x onerror=alert(2)>
</div><a href="https://evil.test">Stop these mails</a>
--
The run of never. Stop these mails: https://evil.test/`

describe('the mail with a result', () => {
  const service = useModelService({ respond: () => ({ text: answer }) })

  /** A schedule that mails its results, after its first run. */
  async function mailed(more: object = {}) {
    const plan = await planner(service)
    const schedule = await plan.create({ cron: '0 7 * * *', mail_result: true, ...more })
    const path = `/schedules/${schedule.schedule_id}`
    const run = async (count: number) => {
      await plan.client.post(`${path}/trigger`)
      await plan.ended(schedule.schedule_id, count)
    }
    await run(1)
    return { ...plan, path, run, address: plan.client.email }
  }
  const linkIn = (text: string) => {
    // Two hyphens stand in some tokens, too.
    const [link] = /http:\/\/\S+\/schedules\/\S+\/mail\?\S+/.exec(text.slice(text.lastIndexOf('\n--\n'))) ?? []
    if (link === undefined) throw new Error('the mail holds no link')
    return new URL(link)
  }
  /** The service of the test has a port of its own, which its BASE_URL does not name. */
  const open = (url: URL, method = 'GET', init: RequestInit = {}) =>
    fetch(`${service.url}${url.pathname}${url.search}`, { method, ...init })

  it('has the answer as text and as HTML, in which nothing of it is markup or a link', async () => {
    const { address } = await mailed({ note: 'The news\r\nBcc: all@evil.test' })
    const mail = await mailTo(address)
    expect(mail.subject).toBe('The news Bcc: all@evil.test')
    expect(mail.to).toHaveLength(1)
    expect(mail.text).toContain('Two <b>ships</b> & "more"')
    const html = mail.html ?? ''
    expect(html).toContain('Two &lt;b&gt;ships&lt;/b&gt; &amp; &quot;more&quot; &lt;script&gt;alert(1)&lt;/script&gt;')
    expect(html).not.toMatch(/<(script|img|b)\b/)
    expect(html.match(/<a /g)).toHaveLength(1)
    expect(html.match(/<\/div>/g)).toHaveLength(1)
    const link = linkIn(mail.text)
    expect(html).toContain(`<a href="${link.href.replaceAll('&', '&amp;')}">Stop these mails</a>`)
    expect(mail.headers['list-unsubscribe']).toBe(`<${link.href}>`)
    expect(mail.headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click')
  })

  it('is in the language of the account, with times of the time zone of the schedule', async () => {
    const { client, address, path, run } = await mailed({ timezone: 'Asia/Tokyo' })
    expect((await mailTo(address)).text).toMatch(
      /The run of \w+ \d+, \d{4} at \d\d:\d\d GMT\+9\. Stop these mails: http/,
    )
    await client.patch('/user/', { language: 'de' })
    await run(2)
    const german = await mailTo(address, 2)
    expect(german.subject).toBe('Dein Zeitplan')
    expect(german.text).toMatch(
      /Der Lauf vom \d+\. \p{L}+ \d{4} um \d\d:\d\d GMT\+9\. Diese E-Mails abbestellen: http/u,
    )
    expect(german.html).toContain('<html lang="de">')
    await service.collections.assistants.updateMany({ user_id: client.userId }, { $set: { suspended: true } })
    await client.call('POST', `${path}/trigger`)
    expect((await mailTo(address, 3)).text).toMatch(/^Es gibt keine Antwort \((abgelehnt|Fehler)\)\./)
  })

  it('has a link that stops such mails without a login, each link once', async () => {
    const { client, address, path, run } = await mailed()
    const link = linkIn((await mailTo(address)).text)
    // Mail programs open links by themselves: that changes nothing.
    const page = await open(link)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('<form method="post"><button type="submit">Stop these mails</button>')
    const german = await (await open(link, 'GET', { headers: { 'accept-language': 'de-AT,de;q=0.9' } })).text()
    expect(german).toMatch(/<html lang="de">.*<button type="submit">Keine E-Mails mehr senden<\/button>/s)
    expect(await client.get(path)).toMatchObject({ mail_result: true })

    const form = {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    }
    const stopped = await open(link, 'POST', form)
    expect(stopped.status).toBe(200)
    expect(await stopped.text()).toContain('no longer mailed')
    expect(await client.get(path)).toMatchObject({ mail_result: false })
    await run(2)
    // A mail program that repeats its request is told the same.
    expect(await (await open(link, 'POST', form)).text()).toContain('no longer mailed')

    await client.patch(path, { mail_result: true })
    expect(await (await open(link, 'POST', form)).text()).toContain('used before')
    expect(await client.get(path)).toMatchObject({ mail_result: true })
    await run(3)
    const next = linkIn((await mailTo(address, 2)).text)
    expect(next.search).not.toBe(link.search)
    expect((await open(next, 'POST', form)).status).toBe(200)
    expect(await client.get(path)).toMatchObject({ mail_result: false })
    expect(await mailsTo(address)).toHaveLength(2)
    const { entries } = await client.get('/user/audit')
    expect(entries.filter(({ action }: any) => action === 'schedules.stopMails').length).toBeGreaterThan(0)
  })

  it('has a link that cannot be made without the key', async () => {
    const { client, address, path } = await mailed()
    const link = linkIn((await mailTo(address)).text)
    const signature = link.searchParams.get('signature') ?? ''
    // 256 bits.
    expect(Buffer.from(signature, 'base64url')).toHaveLength(32)
    const other = await mailed()
    const changes: [string, string][] = [
      ['signature', signature.replace(/^./, otherLetter)],
      ['signature', 'x'.repeat(43)],
      ['signature', ''],
      ['stops', '1'],
    ]
    for (const [member, value] of changes) {
      const forged = new URL(link)
      forged.searchParams.set(member, value)
      for (const method of ['GET', 'POST']) expect((await open(forged, method)).status, value).toBe(403)
    }
    const ofOther = new URL(link)
    ofOther.pathname = `${other.path}/mail`
    expect((await open(ofOther, 'POST')).status).toBe(403)
    ofOther.pathname = `/schedules/${newId()}/mail`
    expect((await open(ofOther, 'POST')).status).toBe(403)
    expect(await client.get(path)).toMatchObject({ mail_result: true })
    expect(await other.client.get(other.path)).toMatchObject({ mail_result: true })
  })

  it.each([
    ['whose address is not confirmed', { verified: false }],
    ['who is suspended', { suspended_at: new Date() }],
    ['without an address', { email: undefined }],
  ])('is not sent to a user %s', async (_who, change) => {
    const plan = await planner(service)
    const schedule = await plan.create({ cron: '0 7 * * *', mail_result: true })
    await plan.client.post(`/schedules/${schedule.schedule_id}/trigger`)
    const [run] = await plan.ended(schedule.schedule_id, 1)
    const due = { scheduleId: schedule.schedule_id, dueAt: run.due_at, triggeredRunId: run.run_id }
    await mailTo(plan.client.email)
    const { email, ...set } = { email: '', ...change }
    await service.collections.users.updateOne(
      { _id: plan.client.userId },
      email === undefined ? { $unset: { email: 1 } } : { $set: set },
    )
    // The step that sent the first one, again.
    await service.api.platform.schedules.activities.mailResult(due)
    expect(await mailsTo(plan.client.email)).toHaveLength(1)
  })

  it('says why there is no answer, and is not sent to another owner', async () => {
    const plan = await planner(service)
    await service.collections.assistants.updateOne({ _id: plan.assistantId }, { $set: { suspended: true } })
    const schedule = await plan.create({ cron: '0 7 * * *', mail_result: true })
    await plan.client.call('POST', `/schedules/${schedule.schedule_id}/trigger`)
    const { text } = await mailTo(plan.client.email)
    expect(text).toMatch(/^There is no answer \((refused|error)\)\./)
  })
})
