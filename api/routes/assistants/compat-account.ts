import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { CompatAccountRecord } from '../../../domain/records/assistant.ts'
import { ownerOf } from '../../plugins/authentication.ts'
import { Kind } from '../provider-kind.ts'
import { PathId, Timestamp, refusals } from '../schemas.ts'

const params = Type.Object({ aid: PathId })
const config = { auth: 'project' } as const
const tags = ['assistants']

const AssistantCompatAccountPayload = Type.Object(
  {
    api_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        pattern: '^[\\x21-\\x7e]+$',
        description:
          'The API key of the account. Required the first time, and whenever the base URL changes: a new base URL without a key removes the old key.',
      }),
    ),
    kind: Type.Optional(Kind),
    base_url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description:
          "Base URL of the provider's chat-completions API, such as https://api.example.com/v1. Required the first time.",
      }),
    ),
  },
  { title: 'AssistantCompatAccountPayload', about: 'A model provider account: its base URL and API key.' },
)

const AssistantCompatAccount = Type.Object(
  {
    assistant_id: Type.String(),
    kind: Type.Optional(Kind),
    base_url: Type.String(),
    api_key: Type.Union([Type.String(), Type.Null()], {
      description: 'The first characters of the key; null if there is none.',
    }),
    updated_at: Timestamp,
  },
  {
    title: 'AssistantCompatAccount',
    about: "The model provider account that an assistant's runs are billed to; the key is masked.",
  },
)

/** `/assistants/{aid}/compat-account`: the model account that an assistant's runs are billed to. */
export const compatAccountRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'compatAccounts'>> = async (
  app,
  { compatAccounts },
) => {
  const path = '/assistants/:aid/compat-account'

  app.put(
    path,
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'assistants.compatAccount.put',
        summary: "Set the assistant's own model account; members that are left out do not change",
        tags,
        params,
        body: AssistantCompatAccountPayload,
        response: { 200: AssistantCompatAccount, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { aid } = request.params
      return show(aid, await compatAccounts.put(ownerOf(request), aid, request.body))
    },
  )

  app.get(
    path,
    {
      config,
      schema: {
        operationId: 'assistants.compatAccount.read',
        summary: "Read the assistant's own model account, its key masked",
        tags,
        params,
        response: { 200: AssistantCompatAccount, ...refusals(401, 403, 404) },
      },
    },
    async (request) => show(request.params.aid, await compatAccounts.get(ownerOf(request), request.params.aid)),
  )

  app.delete(
    path,
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'assistants.compatAccount.delete',
        summary: "Remove the assistant's own model account: its runs use the service's model again",
        tags,
        params,
        response: { 200: Type.Object({ deleted: Type.Boolean() }), ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      await compatAccounts.delete(ownerOf(request), request.params.aid)
      return { deleted: true }
    },
  )
}

function show(assistantId: string, account: CompatAccountRecord): Static<typeof AssistantCompatAccount> {
  return {
    assistant_id: assistantId,
    ...(account.kind === undefined ? {} : { kind: account.kind }),
    base_url: account.base_url,
    api_key: account.encrypted_key === undefined ? null : `${account.key_hint}***`,
    updated_at: account.updated_at.toISOString(),
  }
}
