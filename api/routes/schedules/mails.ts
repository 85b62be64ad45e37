import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AppError } from '../../../domain/errors.ts'
import { auditOwner } from '../../plugins/audit.ts'
import { sendHtmlPage } from '../html-page.ts'
import { PathId, refusals } from '../schemas.ts'

const config = { auth: 'none', isLink: true } as const
const tags = ['schedules']
const params = Type.Object({ schedule_id: PathId })
const querystring = Type.Object({
  stops: Type.Integer({
    minimum: 0,
    maximum: 1_000_000,
    description: 'How often links have stopped the mails before.',
  }),
  signature: Type.String({ maxLength: 100 }),
})
const html = { 200: { description: 'A page.', content: { 'text/html': { schema: Type.String() } } } }
const link = { tags, params, querystring, response: { ...html, ...refusals(403) } }

/** The link in a mail with a result. Opening it changes nothing, because mail programs open links by themselves. */
export const scheduleMailRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'scheduleMails'>> = async (
  app,
  { scheduleMails },
) => {
  const check = (scheduleId: string, { stops, signature }: Type.Static<typeof querystring>) => {
    if (!scheduleMails.isScheduleMailSignature(scheduleId, stops, signature))
      throw new AppError('forbidden', 'This link is not valid.')
  }
  // Mail programs send a form with one click (RFC 8058); its fields say nothing new.
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 1024 },
    (_request, _body, done) => done(null, undefined),
  )

  app.get(
    '/schedules/:schedule_id/mail',
    {
      config,
      schema: {
        operationId: 'schedules.mail',
        summary: 'A page that asks whether to stop the mails of a schedule; for the link in a mail',
        ...link,
      },
    },
    async (request, reply) => {
      check(request.params.schedule_id, request.query)
      return sendHtmlPage(request, reply, 'stopMails')
    },
  )

  app.post(
    '/schedules/:schedule_id/mail',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'schedules.stopMails',
        summary: 'Stop the mails of a schedule; for the link in a mail',
        ...link,
      },
    },
    async (request, reply) => {
      check(request.params.schedule_id, request.query)
      const { areStopped, userId } = await scheduleMails.stopMails(request.params.schedule_id, request.query.stops)
      if (userId !== undefined) auditOwner(request, userId)
      return sendHtmlPage(request, reply, areStopped ? 'mailsStopped' : 'linkUsed')
    },
  )
}
